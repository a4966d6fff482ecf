// Shared knowledge is an index of what statically exists. What a running system happens to be at the moment goes stale
// unseen and gives the next agent false confidence, so values that look like it are pointed out. It is a guess from
// names and forms: whoever stores decides whether it refuses, and a person may know better.
//
// The rule. A place is pointed out where words name something that runs and also what only a look at it can tell: how many
// there are, how it is, how much it does, where it is. The thing is named by the key (`pod_count`), by any key above
// (`pods.shop.api.count`), by a section such as `pods`, or by a `kind` beside it. A setting on the way from the thing to the value
// (`pods.grace`, `nodes.disks.count`) makes it somebody's decision, and so does a bound anywhere (`limits.pods`); below what
// is written in a file (`helm.values`, `spec`) a number counts only with a word such as `running`. A number without any word
// for a count counts directly as the value of what runs (`nodes: 5`) and, of pods and replicas, beside a name
// (`pods.api: 3`). Few words are said of nothing but what runs and need no other (`healthy: true`, `public_ip`, `uptime`), and
// some texts are live whatever they are called. Everything else passes.
import { isObject, type Json, type JsonObject } from '../json.ts';
import { below, type Finding, warning } from './finding.ts';
import { LIVE_ASPECTS, type Place } from './live-aspects.ts';
import { liveForm } from './live-form.ts';
import { isReference } from './live-value.ts';
import { TIER, VERSIONS, wordsIn } from './live-words.ts';

/** `findings` takes a warning for each place in the payload that looks like live state; `path` is the section's name. */
export function findLiveState(payload: JsonObject, path: string, findings: Finding[]): void {
  const section = wordsIn(path);
  // A section called `services` holds all that concerns them; one called `pods` or `deployments` is about these.
  const isTopic = TIER.get(section.at(-1) ?? '') === 'place';
  descend(payload, path, isTopic ? [] : [section], findings);
}

function collect(place: Place, key: string, path: string, findings: Finding[]): void {
  const { value } = place;
  const what = liveAspect(place) ?? liveText(place, key);
  if (what === undefined) descend(value, path, [...place.above, place.words], findings);
  else
    findings.push(
      warning(`LIVE_STATE:${path}`, path, `${what} changes without a trace here; look it up when it is needed`),
    );
}

function descend(value: Json, path: string, above: readonly (readonly string[])[], findings: Finding[]): void {
  if (Array.isArray(value)) {
    value.forEach((element: Json, index) => {
      collect({ words: [], value: element, above }, '', below(path, index), findings);
    });
  } else if (isObject(value)) {
    const around = [...above, ...kindOf(value)];
    for (const [key, member] of Object.entries(value))
      collect({ words: wordsIn(key), value: member, above: around }, key, below(path, key), findings);
  }
}

/** What an object says that it is, where that is something that runs. */
function kindOf({ kind }: JsonObject): readonly (readonly string[])[] {
  const words = typeof kind === 'string' ? wordsIn(kind) : [];
  return words.length === 1 && TIER.has(words[0] ?? '') ? [words] : [];
}

/** What the place tells of something that runs, and the words by which that is known. */
function liveAspect(place: Place): string | undefined {
  if (isReference(place.value)) return undefined;
  for (const { what, by } of LIVE_ASPECTS) {
    const words = by(place);
    if (words) return `${what} (${words.join(', ')})`;
  }
  return undefined;
}

/** A text is looked at as the name of a member as well as its value. */
function liveText({ words, value, above }: Place, key: string): string | undefined {
  const isVersions = isVersion(above.at(-1));
  const named = key === '' || isVersions ? undefined : liveForm(key);
  if (named !== undefined || typeof value !== 'string') return named;
  return isVersions || isVersion(words) ? undefined : liveForm(value);
}

function isVersion(words: readonly string[] = []): boolean {
  return VERSIONS.has(words.at(-1) ?? '');
}
