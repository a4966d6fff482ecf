// Which runner carries out a dispatch.
import type { Runner, Runners } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import { scripted } from './scripted.ts';
import { utility } from './utility.ts';

export const runners: Runners = {
  runnerFor(packet: Packet): Runner {
    if (packet.scripted) return scripted;
    return packet.materia.type === 'utility' ? utility : unavailable(packet);
  },
};

/** No model is called behind anybody's back: a runner that is not there fails its turn and says what to do. */
function unavailable({ materia }: Packet): Runner {
  const name = materia.type === 'agent' ? materia.runner : '';
  const reason = `the runner ${name} is not available in this version; cast with --agents SCRIPT`;
  const result = { kind: 'fault', fault: 'unscripted', reason } as const;
  return { run: async () => result, recover: async () => result };
}
