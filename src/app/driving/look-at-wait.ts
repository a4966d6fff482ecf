// Looks once at what a turn waits for: runs the command that a person configured, or asks how another cast is.
import type { Probed } from '../../engine/drive.ts';
import type { Store } from '../../engine/store.ts';
import type { Probe } from '../../kernel/cast/packet.ts';
import { runOnce } from '../../workspace/checkers.ts';

const COMMAND_MS_MAX = 120_000;

export async function lookAtWait(
  store: Pick<Store, 'view'>,
  probe: Probe,
  root: string,
  signal: AbortSignal,
): Promise<Probed> {
  if (probe.kind === 'cast') return lookAtCast(store, probe.cast);
  const { command, pending } = probe;
  const { pass, found, exit } = await runOnce(command, COMMAND_MS_MAX, { root, changes: [], signal });
  const isOver = pending !== undefined && exit !== undefined && !pending.includes(exit);
  return { met: pass ? true : isOver ? false : null, reason: `${command[0] ?? ''}: ${found}` };
}

async function lookAtCast(store: Pick<Store, 'view'>, cast: string): Promise<Probed> {
  const [found] = await store.view('casts', { cast });
  if (!found) return { met: false, reason: `there is no cast ${cast}` };
  const { status, code } = found;
  const reason = `cast ${cast} is ${status}${code === null ? '' : ` (${code})`}`;
  if (status === 'completed') return { met: true, reason };
  return { met: status === 'failed' || status === 'aborted' ? false : null, reason };
}
