// Parts of the state at the head of the log, folded from the newest snapshot and the facts of their kinds after it. No rules are
// loaded, so that a hook and a short command start fast.
import type { Log } from '../engine/ports.ts';
import { restored } from '../engine/snapshot.ts';
import type { WorkspaceStatus } from '../engine/store.ts';
import { type Entry, timeOf } from '../kernel/fact.ts';
import { applyKnowledge, isKnowledgeFact, type Knowledge, noKnowledge } from '../kernel/knowledge/state.ts';
import { applyToLedger, LEDGER_KINDS } from '../kernel/ledger/history.ts';
import { emptyLedger, type Ledger } from '../kernel/ledger/state.ts';
import { applyQuest, isQuestFact, noQuests } from '../kernel/quest/state.ts';
import { applyTrust, isTrustFact, noTrust, type Trust } from '../kernel/trust/state.ts';

/** As it is now. Only what came after the newest snapshot is read. */
export async function knowledgeIn(log: Log): Promise<Knowledge> {
  const known = await restored(log, (state) => state.knowledge);
  const knowledge = known?.found ?? noKnowledge();
  for (const entry of await factsAfter(log, known?.through ?? 0)) {
    if (isKnowledgeFact(entry.fact)) applyKnowledge(knowledge, entry.fact, timeOf(entry));
  }
  return knowledge;
}

async function factsAfter(log: Log, after: number): Promise<readonly Entry[]> {
  const [context, memory] = [
    await log.read({ after, kindPrefix: 'context.' }),
    await log.read({ after, kindPrefix: 'memory.' }),
  ];
  return [...context, ...memory].toSorted((a, b) => a.seq - b.seq);
}

/** Whether the workspace is paused, and its registry and quarantine. */
export async function workspaceStatus(log: Log): Promise<WorkspaceStatus> {
  const known = await restored(log, ({ trust, ledger, quests }) => ({ trust, quests, hold: ledger.hold }));
  const after = known?.through ?? 0;
  const trust = await trustIn(log, known?.found.trust, after);
  let pause = known?.found.hold ?? null;
  for (const { fact } of await log.read({ after, kindPrefix: 'ledger.' })) {
    if (fact.kind === 'ledger.held') pause = { by: fact.by, reason: fact.reason };
    else if (fact.kind === 'ledger.unheld') pause = null;
  }
  const quests = known?.found.quests ?? noQuests();
  for (const entry of await log.read({ after, kindPrefix: 'quest.' }))
    if (isQuestFact(entry.fact)) applyQuest(quests, entry.fact, timeOf(entry));
  return { hold: pause, trust, quests };
}

/** Registry and quarantine from the facts of the log: all of them, or those after what was known. */
export async function trustIn(log: Pick<Log, 'read'>, trust: Trust = noTrust(), after = 0): Promise<Trust> {
  const facts = [
    ...(await log.read({ after, kindPrefix: 'registry.' })),
    ...(await log.read({ after, kindPrefix: 'quarantine.' })),
  ].toSorted((a, b) => a.seq - b.seq);
  for (const entry of facts) if (isTrustFact(entry.fact)) applyTrust(trust, entry.fact, timeOf(entry));
  return trust;
}

export async function ledgerAtHead(log: Log): Promise<Ledger> {
  const known = await restoredFrom(log);
  const ledger = known?.found ?? emptyLedger();
  const after = known?.through ?? 0;
  const found: Entry[] = [];
  for (const kindPrefix of LEDGER_KINDS) found.push(...(await log.read({ after, kindPrefix })));
  for (const entry of found.sort((a, b) => a.seq - b.seq)) applyToLedger(ledger, entry);
  return ledger;
}

/** A short log has no snapshot. Then the code that reads one is not loaded. */
async function restoredFrom(log: Log): Promise<{ readonly found: Ledger; readonly through: number } | null> {
  if ((await log.snapshot()) === null) return null;
  const { restored } = await import('../engine/snapshot.ts');
  return restored(log, (state) => state.ledger, { whole: true });
}
