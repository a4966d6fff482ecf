// Agents that were not held back: what they ran without the approval it needs is told with their turn. Nothing is refused for it,
// because it is done.
import type { AttemptResult, Place, Runner, Runners } from '../engine/ports.ts';
import type { Packet } from '../kernel/cast/packet.ts';
import type { AgentNote } from '../kernel/fact.ts';
import type { UnapprovedScene } from './unapproved.ts';

/** The same runners; scripted agents and utilities are handed on as they are. */
export function tellingUnapproved(runners: Runners, scene: UnapprovedScene): Runners {
  return {
    runnerFor(packet) {
      const runner = runners.runnerFor(packet);
      return packet.scripted || packet.materia.type === 'utility' ? runner : telling(runner, scene);
    },
  };
}

function telling(runner: Runner, scene: UnapprovedScene): Runner {
  return {
    run: async (packet, place, signal) => told(await runner.run(packet, place, signal), packet, place, scene),
    recover: async (packet, place, signal) => told(await runner.recover(packet, place, signal), packet, place, scene),
    ...(runner.forget ? { forget: (place: Place) => runner.forget?.(place) ?? Promise.resolve() } : {}),
  };
}

/** An attempt that was cut off begins anew; what it was let do may not be known any more. */
async function told(
  result: AttemptResult,
  packet: Packet,
  place: Place,
  scene: UnapprovedScene,
): Promise<AttemptResult> {
  const { agent } = result;
  if (result.kind === 'lost' || !agent?.commands?.length) return result;
  const { unapprovedIn } = await import('./unapproved.ts');
  const unapproved = unapprovedIn(agent.commands, packet, place, scene);
  return unapproved.length === 0 ? result : { ...result, agent: withUnapproved(agent, unapproved) };
}

/** More than these are counted only. */
const TOLD_MAX = 5;

function withUnapproved(agent: AgentNote, unapproved: readonly string[]): AgentNote {
  const more = unapproved.length - TOLD_MAX;
  const warnings = [
    ...(agent.warnings ?? []),
    ...unapproved.slice(0, TOLD_MAX).map((command) => `ran without approval: ${command}`),
    ...(more > 0 ? [`ran without approval: ${more} more`] : []),
  ];
  return { ...agent, warnings, unapproved };
}
