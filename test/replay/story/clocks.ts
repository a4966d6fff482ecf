// A clock that was two hours ahead for a moment: what it wrote is dated by it, and what came after says what its own clock said.
import type { Stage } from './stage.ts';

const AHEAD_MS = 7_200_000;

export async function tellOfClocks(stage: Stage): Promise<void> {
  stage.wait(AHEAD_MS);
  await stage.tell({ kind: 'ledger.hold', reason: 'a clock that is ahead' });
  stage.wait(-AHEAD_MS);
  await stage.tell({ kind: 'ledger.unhold', reason: 'a clock that is right' });
}
