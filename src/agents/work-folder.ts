// The folder of a materia that does not work at the top: its program is started there, and nowhere else. Everything that
// is said about paths, such as locks and what was changed, stays relative to the folder of the cast.
import { realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import type { AttemptResult, Place, Runner } from '../engine/ports.ts';
import type { Materia } from '../kernel/graph/config.ts';

/** The runner, working in the folder that the materia names. A folder that is not there, or lies elsewhere, fails the turn. */
export function inItsFolder(runner: Runner, { type, cwd }: Pick<Materia, 'type' | 'cwd'>): Runner {
  if (cwd === undefined) return runner;
  const below = (place: Place): Place => ({ ...place, cwd: join(place.cwd, cwd) });
  return {
    async run(packet, place, signal) {
      const reason = whyNot(place.cwd, cwd);
      return reason === null ? runner.run(packet, below(place), signal) : refused(type, reason);
    },
    recover: (packet, place, signal) => runner.recover(packet, below(place), signal),
    ...(runner.forget ? { forget: runner.forget } : {}),
  };
}

/** A link may lead out of the folder of the cast, so where it really lies is what counts. */
function whyNot(root: string, cwd: string): string | null {
  try {
    const folder = realpathSync(join(root, cwd));
    if (!`${folder}${sep}`.startsWith(`${realpathSync(root)}${sep}`)) return `its folder ${cwd} leads out of ${root}`;
    return statSync(folder).isDirectory() ? null : `its folder ${cwd} is no folder in ${root}`;
  } catch {
    return `there is no folder ${cwd} in ${root}; make it, or correct cwd of the materia`;
  }
}

function refused(type: Materia['type'], reason: string): AttemptResult {
  if (type === 'utility') return { kind: 'fault', fault: 'utility', reason };
  return { kind: 'fault', fault: 'refused', code: 'AGENT_UNAVAILABLE', reason };
}
