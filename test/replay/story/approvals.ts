// Permissions: asked for by hand and by a turn, given, refused, used once, cut off and allowed again, over by time, and
// withdrawn with the turn that wanted them.
import {
  NOT_SAID,
  type Origin,
  type Presented,
  type SealedCommand,
  type SealedRequest,
} from '../../../src/kernel/approval/request.ts';
import type { Code } from '../../../src/kernel/codes.ts';
import type { Request } from '../../../src/kernel/input.ts';
import { deny } from '../../../src/kernel/verdict.ts';
import { graph } from '../../loadouts.ts';
import { says } from './reports.ts';
import type { Stage } from './stage.ts';

const MINUTE = 60_000;
const CAST = 'deploy';
const idOf = (number: number): string => `P-${String(number).padStart(32, '0')}`;

const SCENE = {
  ...{ cwd: '/srv/golden', envMarks: { HOME: 'mark of a home', LD_PRELOAD: null } },
  ...{ policy: 'policy', log: 'log', keyId: 'key' },
} as const;

const EXECUTOR = { host: 'golden', pid: 7, startTime: 'boot/then', machine: 'm-1', namespace: 'pid:[7]' };

function command(name: string): SealedCommand {
  const argv = name.split(' ');
  return {
    ...{ display: name, digest: 'sha256:1', seal: `seal of ${name}`, tier: 'T3', because: 'it changes state', argv },
    marks: argv.map((word, index) => `${index}:${word}`),
    programs: { deploy: { path: '/opt/golden/deploy', digest: 'sha256:2' } },
    ...{ places: { prod: '/srv/golden/prod' }, files: { '/srv/golden/prod': 'sha256:3' } },
  };
}

function presented(name: string): Presented {
  const { argv, marks, seal, programs, places, files } = command(name);
  return { argv, marks, seal, programs, places, files, ...SCENE, decision: null };
}

/** The decider of approvals: each wish is about a command of its own, named after its number. */
class Permissions {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  sealed(number: number, over: Partial<SealedRequest> = {}): SealedRequest {
    return {
      ...{ id: idOf(number), commands: [command(`deploy ${number}`)], env: ['HOME'], path: '/opt/golden', files: {} },
      ...{ plainEnv: { LANG: 'C.UTF-8' } },
      ...{ ...SCENE, requester: 'a1', operation: 'deploy', scope: 'prod', riskLevel: 'HIGH', rationale: 'it is due' },
      ...{ rollback: 'deploy the last one', verification: 'look at it', relays: null, refusal: null },
      ...{ expiresAt: this.#stage.now + 60 * MINUTE, grantMs: 10 * MINUTE, fingerprint: `print of ${number}` },
      ...over,
    };
  }

  async ask(number: number, over: Partial<SealedRequest> = {}, code: Code | 'OK' = 'OK', from: Origin | null = null) {
    await this.#stage.tell({ kind: 'approval.request', sealed: this.sealed(number, over), from }, code);
  }

  /** The turn's report wants it. */
  async want(number: number, over: Partial<SealedRequest> = {}): Promise<void> {
    const wish = { operation: 'deploy', exact_content: `deploy ${number}`, rollback: 'the last', verification: 'look' };
    const at = await this.#stage.turn(CAST);
    await this.#stage.say(at, says('APPROVAL_REQUEST', { more: { approval_request: wish } }));
    await this.#stage.verify(at, { approval: this.sealed(number, over) });
  }

  async decide(number: number, choice: 'approve' | 'reject', again = false): Promise<void> {
    const decision = { id: idOf(number), choice, reason: `${choice} it`, isAgent: false, gone: [EXECUTOR] };
    await this.#tell({ kind: 'approval.decide', ...decision, ...(again ? { again } : {}) });
  }

  async use(number: number, code: Code | 'OK' = 'OK', name = `deploy ${number}`): Promise<void> {
    const what = {
      id: idOf(number),
      requester: 'a1',
      presented: presented(name),
      executor: EXECUTOR,
      gone: [EXECUTOR],
    };
    await this.#tell({ kind: 'approval.use', ...what }, code);
  }

  async #tell(request: Request, code: Code | 'OK' = 'OK'): Promise<void> {
    await this.#stage.tell(await this.#stage.sealed(request), code);
  }

  async finish(number: number, exit: number, note?: string): Promise<void> {
    const told = note === undefined ? {} : { note };
    await this.#stage.tell({ kind: 'approval.finish', id: idOf(number), index: 0, executor: EXECUTOR, exit, ...told });
  }
}

export async function tellOfApprovals(stage: Stage): Promise<void> {
  const permissions = new Permissions(stage);
  await byHand(stage, permissions);
  await inTurn(stage, permissions);
  // One that waits, one that is granted, one of which nobody knows how it ended.
  await permissions.ask(31);
  await permissions.ask(32);
  await permissions.decide(32, 'approve');
  await permissions.ask(33);
  await permissions.decide(33, 'approve');
  await permissions.use(33);
  await permissions.use(33, 'OUTCOME_UNKNOWN');
}

async function byHand(stage: Stage, permissions: Permissions): Promise<void> {
  await permissions.ask(1);
  await permissions.decide(1, 'approve');
  await permissions.use(1, 'APPROVAL_MISMATCH', 'deploy other');
  await permissions.use(1);
  await permissions.finish(1, 0);
  await permissions.ask(2);
  await permissions.decide(2, 'reject');
  await permissions.ask(3, { refusal: deny('COMMAND_BLOCKED', 'nobody may do that') }, 'COMMAND_BLOCKED');
  await permissions.ask(4, { expiresAt: stage.now + 5 * MINUTE });
  await permissions.ask(5);
  await permissions.decide(5, 'approve');
  stage.wait(11 * MINUTE);
  await stage.tell({ kind: 'approval.sweep' });
}

async function inTurn(stage: Stage, permissions: Permissions): Promise<void> {
  const config = graph(
    { 'Socket-1': { materia: 'Ops', parse: 'json', contract: 'gaia' } },
    { materia: { Ops: { tools: 'none', prompt: 'Deploy it.' } } },
  );
  await stage.start(CAST, { config, request: 'golden deploy', script: { Ops: ['said by hand', '$repeat'] } });
  // Asked, given, refused for something else, used.
  await permissions.want(11);
  await permissions.decide(11, 'approve');
  await permissions.use(11, 'APPROVAL_MISMATCH', 'deploy other');
  await permissions.use(11);
  await permissions.finish(11, 1, 'it says the disk is full');
  // A hook has asked already, and knew less than the report says.
  await permissions.ask(12, { operation: NOT_SAID, scope: NOT_SAID, rollback: null, verification: null });
  await permissions.want(13, { relays: idOf(12), commands: [command('deploy 12')] });
  await permissions.decide(12, 'reject');
  // A person was faster than the report; the command is cut off and may run once more.
  await permissions.ask(14);
  await permissions.decide(14, 'approve');
  await permissions.want(15, { relays: idOf(14), commands: [command('deploy 14')] });
  await permissions.use(14);
  await permissions.use(14, 'OUTCOME_UNKNOWN');
  await permissions.decide(14, 'approve', true);
  await permissions.use(14);
  await permissions.finish(14, 0);
  // A person says no before the report asks.
  await permissions.ask(19, {}, 'OK', await stage.turn(CAST));
  await permissions.decide(19, 'reject');
  await permissions.want(20, { relays: idOf(19), commands: [command('deploy 19')] });
  // Nobody decides in time.
  await permissions.want(16, { expiresAt: stage.now + 5 * MINUTE });
  stage.wait(6 * MINUTE);
  await stage.tell({ kind: 'clock.rang', cast: CAST });
  // The turn goes on without the one, and ends without having used the other.
  await permissions.want(17);
  await permissions.decide(17, 'approve');
  const at = await stage.turn(CAST);
  await permissions.ask(18, {}, 'OK', at);
  await stage.say(at, says('NEEDS_INPUT', { next_action: 'Now or later?' }));
  await stage.tell({ kind: 'turn.answer', cast: CAST, output: 'later' });
  await stage.say(await stage.turn(CAST), says('COMPLETE'));
}
