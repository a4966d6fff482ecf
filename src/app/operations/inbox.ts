// Everything that waits for a person: what open casts ask, permissions, notes that agents suggest, agents that are blocked.

import type { JsonObject } from '../../kernel/json.ts';
import { counted } from '../../kernel/text.ts';
import { allow } from '../../kernel/verdict.ts';
import { castPages } from '../cast-pages.ts';
import { type Listed, listCasts } from '../name-cast.ts';
import type { WorkspaceStore } from '../store.ts';
import type { CastPage, InboxRow, PageWait } from '../views/cast-page.ts';
import type { Workspace } from '../workspace.ts';
import { approvalViews } from './approvals.ts';
import type { Operation } from './table.ts';

export const inbox: Operation<'inbox'> = async (workspace) => {
  const inbox = workspace.hasLog() ? await waitingIn(workspace) : [];
  const oldestFirst = inbox.toSorted((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  const stopping = inbox.filter(({ stops }) => stops).length;
  const reason = `${counted(inbox.length, 'thing')} ${inbox.length === 1 ? 'waits' : 'wait'} for a person, ${stopping} of them stop a cast`;
  return allow(reason, { inbox: oldestFirst.map((row): JsonObject => ({ ...row })) });
};

async function waitingIn(workspace: Workspace): Promise<readonly InboxRow[]> {
  const store = workspace.castStore();
  const casts = await listCasts(store, Date.now(), { isOpen: true });
  const pages: (readonly [Listed, CastPage])[] = [];
  for (const cast of casts) {
    const page = await castPages(store).pageOf(store, cast.cast, null);
    if (page) pages.push([cast, page]);
  }
  return [
    ...(await approvalsOf(workspace, new Map(pages.map((each) => [each[0].cast, each])))),
    ...pages.flatMap(([cast, page]) => page.waits.flatMap((wait) => waitingTurn(cast, wait))),
    ...(await suggestionsOf(store)),
    ...(await blocksOf(store)),
  ];
}

/** What a turn or an item waits for. Permissions are left to the approvals, which have all of them. */
function waitingTurn(
  cast: Listed,
  { kind, turn, socket, number, item, title, since, words }: PageWait,
): readonly InboxRow[] {
  if (kind === 'approval') return [];
  const who = socket ?? 'The item';
  return [
    {
      kind: kind === 'turn' ? 'question' : kind,
      id: `${cast.cast}:${turn ?? item ?? ''}`,
      ...{ cast: cast.cast, request: cast.request, turn, socket },
      item: number === null ? null : { n: number, title: title ?? item ?? '' },
      title: TITLES[kind](kind === 'parked' ? (title ?? item ?? '') : who),
      since: since ?? cast.changedAt,
      stops: cast.status === 'waiting',
      reason: words,
      ...(kind === 'spent' ? { code: 'EDGE_BUDGET_EXHAUSTED' } : {}),
      ...(item === null ? {} : { key: item }),
    },
  ];
}

const TITLES: Readonly<Record<PageWait['kind'], (who: string) => string>> = {
  approval: (who) => `${who} asks permission`,
  question: (who) => `${who} asks`,
  talk: (who) => `${who} talks with you`,
  turn: (who) => `${who} is your turn`,
  unknown: (who) => `${who} may have run; that is unknown`,
  blocked: (who) => `${who} cannot go on`,
  spent: (who) => `${who} sent it back as often as it may`,
  parked: (title) => `Parked: ${title}`,
};

async function approvalsOf(
  workspace: Workspace,
  pages: ReadonlyMap<string, readonly [Listed, CastPage]>,
): Promise<readonly InboxRow[]> {
  const views = await approvalViews(workspace);
  return views.flatMap((view): InboxRow[] => {
    if (view.status !== 'pending' && view.status !== 'unknown') return [];
    const [cast, page] = pages.get(view.cast ?? '') ?? [];
    const wait = page?.waits.find(({ approval }) => approval === view.id);
    return [
      {
        ...{ kind: 'approval', id: view.id, cast: view.cast, request: cast?.request ?? null, turn: view.turn },
        socket: wait?.socket ?? null,
        item: wait?.number ? { n: wait.number, title: wait.title ?? wait.item ?? '' } : null,
        title: view.commands[0]?.command ?? view.operation,
        since: view.since,
        stops: cast?.status === 'waiting',
        reason: view.rationale,
        code: view.status === 'unknown' ? 'OUTCOME_UNKNOWN' : null,
      },
    ];
  });
}

const NOWHERE = { cast: null, request: null, turn: null, socket: null, item: null } as const;

async function suggestionsOf(store: WorkspaceStore): Promise<readonly InboxRow[]> {
  const { open } = await store.view('knowledge');
  return Object.values(open).map(({ id, at, description, body, rationale = '' }) => ({
    ...NOWHERE,
    ...{
      kind: 'memory',
      id,
      title: description ?? body,
      since: new Date(at).toISOString(),
      stops: false,
      reason: rationale,
    },
  }));
}

async function blocksOf(store: WorkspaceStore): Promise<readonly InboxRow[]> {
  const { quarantine } = (await store.view('workspace')).trust;
  return Object.entries(quarantine).map(([id, { agent, since, code, reason }]) => ({
    ...NOWHERE,
    ...{ kind: 'quarantine', id, title: `${agent ?? 'Every agent'} is blocked` },
    ...{ since: new Date(since).toISOString(), stops: true, code, reason },
  }));
}
