// The static checks of a configuration: every issue of every loadout and materia, not only the first.
// One bad loadout leaves the others usable, so an issue says in its path whom it concerns.
import { isObject, type Json } from '../json.ts';
import { ACTIVE_FIELDS } from './active-loadout.ts';
import { draftOf, objectAt, stringAt } from './authored.ts';
import { type Boundaries, checkBoundaries, checkIdentity, checkMalformed, REGISTRY } from './check-boundaries.ts';
import { checkConfig } from './check-config.ts';
import { checkHeldBack } from './check-held-back.ts';
import { checkLoadout } from './check-loadout.ts';
import { checkMateria } from './check-materia.ts';
import { checkSecrets } from './check-secrets.ts';
import { checkUtilityName, type UtilityNames } from './check-utility-name.ts';
import type { Issue } from './config.ts';
import { error, type Findings, shown } from './issue.ts';
import { withDefaultRunner } from './runner-choice.ts';

export type CheckOptions = {
  /** Warnings count as errors. */
  readonly strict?: boolean;
  /** Which utilities there are; without it their names are not looked at. */
  readonly utilities?: UtilityNames;
  /** Who may hand to whom; without it nobody's boundaries are looked at. */
  readonly boundaries?: Boundaries;
};

/** All issues, errors first, each kind in the order of the configuration. Never throws, whatever the value. */
export function check(config: Json, { strict = false, utilities, boundaries }: CheckOptions = {}): readonly Issue[] {
  const found = [...checkAll(config, utilities, boundaries)];
  const issues = found.map((issue) => (strict ? { ...issue, level: 'error' as const } : issue));
  const errors = issues.filter((issue) => issue.level === 'error');
  return [...errors, ...issues.filter((issue) => issue.level === 'warning')];
}

/**
 * The issues that matter for casting one loadout: its own, those of the materia it uses, and the configuration's. Which
 * loadout is active is no concern of one that was named.
 */
export function issuesOf(issues: readonly Issue[], loadoutName: string, config: Json): readonly Issue[] {
  const draft = draftOf(isObject(config) ? config : {}, loadoutName);
  const used = draft.socketIds.map((id) => stringAt(objectAt(draft.sockets, id), 'materia'));
  const owners = [draft.path, ...new Set(used.filter((id) => id !== null).map((id) => `materia.${id}`))];
  return issues.filter(({ path }) => {
    if (path.startsWith(REGISTRY)) return false;
    if (!path.startsWith('loadouts.') && !path.startsWith('materia.')) return !ACTIVE_FIELDS.includes(path);
    // A name may hold dots itself, and then a path may fit two names: it counts for both.
    return owners.some((owner) => path === owner || path.startsWith(`${owner}.`));
  });
}

function* checkAll(written: Json, utilities: UtilityNames | undefined, boundaries: Boundaries | undefined): Findings {
  if (!isObject(written)) {
    const message = `The configuration is ${shown(written)}. Write an object with loadouts and materia.`;
    yield error('INVALID_CONFIG', 'config', message);
    return;
  }
  const config = withDefaultRunner(written);
  yield* checkConfig(config);
  yield* checkSecrets(config);
  for (const [id, materia] of Object.entries(objectAt(config, 'materia'))) {
    yield* checkMateria(id, materia);
    if (utilities) yield* checkUtilityName(id, materia, utilities);
    if (boundaries && isObject(materia)) yield* checkIdentity(id, materia, boundaries);
  }
  if (boundaries) yield* checkMalformed(config, boundaries);
  for (const [name, loadout] of Object.entries(objectAt(config, 'loadouts'))) {
    yield* checkLoadout(config, name, loadout, utilities);
    yield* checkHeldBack(draftOf(config, name), config);
    if (boundaries) yield* checkBoundaries(config, name, boundaries);
  }
}
