// `baton memory`: what agents suggest to remember, for a person to accept or to drop.

import { hasLog } from '../../app/state-folder.ts';
import type { Request } from '../../kernel/input.ts';
import { noKnowledge, numberOf, type Remembered, type Suggested } from '../../kernel/knowledge/state.ts';
import { deny } from '../../kernel/verdict.ts';
import { again, type Call, EXIT, flag, out, outJson, Refused, text, UsageError } from '../command.ts';
import { declaredSections } from '../declared-sections.ts';
import { workspaceOf } from '../find-workspace.ts';
import { knowledgeIn } from '../knowledge-in-log.ts';
import { withLedger } from '../ledger-session.ts';
import { isByAgent, noteAgents } from '../refuse-agents.ts';
import { oneLine } from '../safe-text.ts';
import { person } from '../session.ts';
import { table } from '../table.ts';
import { tell } from '../verdict-answer.ts';

type Sub = {
  readonly args: string;
  readonly words: number;
  readonly options: readonly string[];
  run(call: Call, id: string): Promise<number>;
};

const SUBS: Readonly<Record<string, Sub>> = {
  list: { args: '[--all]', words: 0, options: ['all'], run: list },
  accept: { args: 'ID [--section SECTION]', words: 1, options: ['section'], run: accept },
  drop: { args: 'ID [--reason TEXT]', words: 1, options: ['reason'], run: drop },
};
const EVERYWHERE = ['json', 'help', 'directory'];

export async function run(call: Call): Promise<number> {
  const [word = 'list', ...words] = call.words;
  const sub = Object.hasOwn(SUBS, word) ? SUBS[word] : undefined;
  const program = `${again(call)} memory`;
  if (!sub) throw new UsageError(`there is no ${program} ${word}; there are: ${Object.keys(SUBS).join(', ')}`);
  const odd = Object.keys(call.values).find((name) => !sub.options.includes(name) && !EVERYWHERE.includes(name));
  if (odd !== undefined || words.length !== sub.words) throw new UsageError(`say: ${program} ${word} ${sub.args}`);
  return sub.run(call, words[0] ?? '');
}

async function list(call: Call): Promise<number> {
  const isAll = flag(call.values, 'all');
  const known = hasLog(workspaceOf(call)) ? await withLedger(call, ({ log }) => knowledgeIn(log)) : noKnowledge();
  const waiting = Object.values(known.open).map(suggested);
  const accepted = isAll ? Object.values(known.memory).map(remembered) : [];
  const rows = [...waiting, ...accepted].toSorted((a, b) => numberOf(a.id) - numberOf(b.id));
  if (call.json) outJson(rows);
  else if (rows.length === 0) out(isAll ? 'Nothing was suggested to be remembered.' : 'Nothing waits to be decided.');
  else for (const line of shown(rows, isAll)) out(line);
  return EXIT.ok;
}

async function accept(call: Call, id: string): Promise<number> {
  const section = text(call.values, 'section');
  const declared = declaredSections(workspaceOf(call));
  return decided(call, id, {
    kind: 'memory.accept',
    id,
    ...(section === undefined ? {} : { section }),
    ...(declared === null ? {} : { declared }),
    isAgent: isByAgent(call),
  });
}

async function drop(call: Call, id: string): Promise<number> {
  const reason = text(call.values, 'reason') || 'a person said no';
  return decided(call, id, { kind: 'memory.drop', id, reason, isAgent: isByAgent(call) });
}

async function decided(call: Call, id: string, request: Request): Promise<number> {
  if (!hasLog(workspaceOf(call))) {
    throw new Refused(
      deny('UNKNOWN_MEMORY', `nothing waits under ${id}; \`${again(call)} memory list\` shows what does`, { id }),
    );
  }
  const verdict = await withLedger(call, ({ door }) => door.submit(request, person()));
  return tell(call, await noteAgents(call, verdict), ({ reason }) => [reason]);
}

function suggested({ key: _key, at, ...words }: Suggested) {
  return { status: 'waiting' as const, section: null, ...words, at: new Date(at).toISOString() };
}

function remembered({ key: _key, at, ...words }: Remembered) {
  return { status: 'accepted' as const, ...words, at: new Date(at).toISOString() };
}

type Row = ReturnType<typeof suggested> | ReturnType<typeof remembered>;

function shown(rows: readonly Row[], isAll: boolean): readonly string[] {
  const cells = rows.map((row) => {
    const from = row.status === 'waiting' ? `${row.agent}, ${row.cast}:${row.turn}` : (row.section ?? 'everybody');
    const words = row.description === null ? row.body : `${row.description}: ${row.body}`;
    return [row.id, ...(isAll ? [row.status] : []), from, oneLine(words, 200)];
  });
  return table(cells, ['id', ...(isAll ? ['status'] : []), isAll ? 'from or for' : 'from', 'what']);
}
