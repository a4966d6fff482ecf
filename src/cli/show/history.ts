// How the answers about the history are shown.

import { flat } from '../../app/views/flat-entry.ts';
import type { Fault } from '../../audit/fault.ts';
import type { Entry } from '../../kernel/fact.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import { oneLine } from '../safe-text.ts';
import { codeIn, storyteller } from '../story.ts';
import type { Form, Forms } from './form.ts';
import { traceForm } from './trace.ts';

const PROOF: Form = { lines: (details) => [JSON.stringify(details, null, 2)], refusal: 'lines' };

export const forms: Forms = {
  log: {
    value: (details) => entriesIn(details).map((entry) => flat(entry, entry.leaf ?? undefined)),
    lines: story,
  },
  'audit.verify': { lines: (details, _call, _given, verdict) => summary(details, verdict), refusal: 'lines' },
  'audit.prove': PROOF,
  'audit.checkpoint': {
    lines: ({ note }, _call, _given, { reason }) => [reason, ...(typeof note === 'string' ? ['', note.trimEnd()] : [])],
    refusal: 'lines',
  },
  'audit.key': { lines: ({ key }) => [String(key)], refusal: 'lines' },
  'audit.outside': { lines: ({ file }) => [String(file)], refusal: 'lines' },
  'cast.trace': traceForm,
  export: { lines: (_details, _call, _given, { reason }) => [reason], refusal: 'lines' },
  verify: {
    lines: ({ texts, redacted, withheld }, _call, _given, { reason }) => [
      reason,
      `texts         ${texts} shown, ${redacted} redacted; ${withheld} facts withheld`,
    ],
    refusal: 'lines',
  },
};

type Shown = Entry & { readonly leaf: string | null };

function entriesIn({ entries }: JsonObject): readonly Shown[] {
  return entries as unknown as readonly Shown[];
}

function story(details: JsonObject): readonly string[] {
  const told = storyteller();
  return entriesIn(details).map((entry) => {
    const { seq, at, by, fact } = entry;
    const what = [fact.kind, ...[codeIn(fact) ?? []].flat(), told(entry)].join('  ');
    return `${String(seq).padStart(6)}  ${at}  ${oneLine(by, 40)}  ${what}`;
  });
}

function summary(details: JsonObject, { reason }: Verdict): readonly string[] {
  const { head, root, texts, erased, checkpoints, decisions, warnings } = details as Record<string, unknown>;
  const { checked = 0 } = (decisions ?? {}) as Record<string, number>;
  const { inside, outside, unsigned } = checkpoints as Record<string, number>;
  return [
    reason,
    `texts         ${texts} as their digests say, ${erased} erased`,
    `checkpoints   ${inside} beside the log, ${outside} outside; ${unsigned} facts came after the last one`,
    ...(checked === 0 ? [] : [`decisions     ${checked} sealed with the key of this user`]),
    `head          ${head}`,
    `root          ${root}`,
    ...(warnings as readonly Fault[]).map(({ kind, reason: why }) => `warning       ${kind}: ${why}`),
  ];
}
