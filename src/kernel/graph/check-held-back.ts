// Checks of who can be held back: where commands that change state wait for an approval, a runner that cannot be stopped before
// one, or that could never run what was approved, is told before a cast.
import { policyOf } from '../approval/policy.ts';
import { DEFAULT_RUNNER, dialectCan, PRESENT, runnerCan } from '../capabilities.ts';
import { isObject, type JsonObject } from '../json.ts';
import { type Draft, given, materiaOf, namedContract, typeOfMateria } from './authored.ts';
import { type Findings, warning } from './issue.ts';

export function* checkHeldBack(draft: Draft, config: JsonObject): Findings {
  const { hook } = policyOf(given(config, 'approvals'));
  if (hook === 'off') return;
  for (const [id, socket] of Object.entries(draft.sockets)) {
    const materia = isObject(socket) ? materiaOf(draft, socket) : null;
    if (!isObject(socket) || !materia || typeOfMateria(materia) === 'utility') continue;
    const contract = namedContract(socket) ?? namedContract(materia);
    if (!dialectCan(PRESENT, contract, 'reportsStatus') && hook !== 'deny') continue;
    if ((given(materia, 'tools') ?? 'none') === 'none') continue;
    const why = unstoppable(materia);
    if (why !== null) yield warning('INVALID_MATERIA', `${draft.path}.sockets.${id}.materia`, why);
  }
}

function unstoppable(materia: JsonObject): string | null {
  const runner = given(materia, 'runner') ?? DEFAULT_RUNNER;
  if (runnerCan(PRESENT, runner, 'runsCommand')) {
    return 'The runner command asks nobody before its agent runs something that changes state, and does not tell what it ran. Give the work to claude, codex or pi, or write tools: "none".';
  }
  if (!runnerCan(PRESENT, runner, 'isProgram') || given(materia, 'sandbox') !== 'bwrap') return null;
  return 'In a sandbox a command that changes state is refused, and cannot be approved: nothing can be written down from there. Leave the sandbox out, give such commands a lower tier in approvals.tiers, or set approvals.hook to "off".';
}
