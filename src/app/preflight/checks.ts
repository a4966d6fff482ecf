// What is looked at before a cast: one list. `doctor` shows all of it, `check` shows what is missing, and `cast` does not start
// while something is. Nothing is changed.

import { hasWriters } from '../../kernel/cast/lock-scope.ts';
import { checkersOfTurns, type Rules, type Script } from '../../kernel/graph/config.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { addressFindings, agentFindings } from './agents.ts';
import type { MachineFinding, Needs, StartScene } from './finding.ts';
import {
  clockFinding,
  diskFinding,
  gitFinding,
  limitsFindings,
  nodeFinding,
  sizeFindings,
  stateFinding,
  worktreesFinding,
} from './machine.ts';
import { checkerFindings, commandFindings } from './programs.ts';

type Check = {
  /** `doctor` alone looks at what takes long, and at what a cast finds out before it spends anything. */
  readonly by: 'everyone' | 'doctor';
  readonly find: (
    start: StartScene,
  ) => MachineFinding | readonly MachineFinding[] | Promise<MachineFinding | readonly MachineFinding[]>;
};

const CHECKS: readonly Check[] = [
  { by: 'doctor', find: () => nodeFinding(process.versions.node) },
  { by: 'doctor', find: gitFinding },
  { by: 'doctor', find: sizeFindings },
  { by: 'doctor', find: limitsFindings },
  { by: 'everyone', find: agentFindings },
  { by: 'everyone', find: addressFindings },
  { by: 'everyone', find: checkerFindings },
  { by: 'everyone', find: commandFindings },
  { by: 'everyone', find: diskFinding },
  { by: 'doctor', find: stateFinding },
  { by: 'everyone', find: (start) => (start.isDoctor || start.needs.isApart ? worktreesFinding(start) : []) },
  { by: 'doctor', find: clockFinding },
];

/** In the order of the list. */
export async function findingsIn(start: StartScene): Promise<readonly MachineFinding[]> {
  const checks = CHECKS.filter(({ by }) => by === 'everyone' || start.isDoctor);
  return (await Promise.all(checks.map(({ find }) => find(start)))).flat();
}

/** What these casts need. Agents and commands that a script speaks for need nothing. */
export function needsOf(all: readonly Rules[], script: Script | null, isInPlace = false): Needs {
  const materia = all.flatMap((rules) => Object.values(rules.materia));
  const isScripted = (id: string) => script !== null && Object.hasOwn(script, id);
  const commands = materia.flatMap((one) => {
    if (one.type !== 'utility' || one.command === null || isScripted(one.id)) return [];
    return [{ id: one.id, command: one.command }];
  });
  const [first] = all;
  return {
    // With a script no agent of the cast is asked for anything.
    agents: script === null ? materia.filter((one) => one.type === 'agent') : [],
    commands,
    checkers: Object.assign({}, ...all.map(({ checkers }) => checkers)) as JsonObject,
    checks: all.flatMap(({ checkers, graph }) => checkersOfTurns(checkers, graph.sockets)),
    isSetUp: (first?.worktree?.setup ?? []).length > 0,
    isApart: !isInPlace && all.some((rules) => rules.worktree !== null && hasWriters(rules)),
  };
}
