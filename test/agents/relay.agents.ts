// All four layers in one cast, with the three real programs: Claude Code plans and builds, Codex checks, pi judges. One asks a
// person for permission and then runs exactly the approved command, one claims what its checker refutes, one item is sent back,
// one handoff crosses a boundary. Baton is killed three times on the way.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../src/kernel/json.ts';
import { type Answer, type ModelRequest, modelServer } from '../../src/testing/index.ts';
import { batonProcess as baton, CHECKOUT, json, type Ran, start } from '../cli/baton.ts';
import { commit, repository } from '../cli/repository.ts';
import { asBlock, type PlanStatus, reportOf } from '../reports.ts';
import { assertInstalled, CLI, homeFolder, scratchFolder } from './contenders.ts';
import { REAL, type RealProgram } from './real-cast.ts';

beforeAll(assertInstalled);

const EXAMPLE = join(CHECKOUT, 'examples/relay');
const REQUEST = 'Limit how often the service may be asked, and describe the limit';
const PLAN = JSON.stringify(
  (JSON.parse(readFileSync(join(EXAMPLE, 'agents.json'), 'utf8')) as { Lead: Json[] }).Lead[0],
);
const MIGRATION = 'node tools/migrate.mjs --add counters';

const programOf = (name: string): RealProgram => REAL.find((each) => each.name === name) as RealProgram;
const CONSOLIDATION = {
  ownership_assessment: 'owned_here',
  confirmed_findings: ['done'],
  suspected_findings: ['none'],
  conflicts: ['none'],
  open_gaps: ['none'],
  next_best_agent: 'none',
};

/** Everything that was said to the model and by it in this conversation. */
function heard({ system, messages }: ModelRequest): string {
  return [system, ...messages.map(({ text }) => text)].join('\n');
}

function roleOf(request: ModelRequest): string {
  const said = heard(request);
  const roles = {
    'You lead': 'lead',
    'You build': 'backend',
    'You check': 'docs',
    'You judge': 'evaluate',
    'You write': 'publish',
  };
  return Object.entries(roles).find(([words]) => said.includes(words))?.[1] ?? 'nobody';
}

const toolsIn = ({ messages }: ModelRequest) => messages.filter(({ role }) => role === 'tool').length;
const itemOf = (said: string) => /Current item \((\d) of 3\)/.exec(said)?.[1] ?? '0';

/** A report under the id that the brief asks for. */
function report(said: string, status: PlanStatus, found: string, more: JsonObject = {}): string {
  const agent_id = /agent_id: exactly "(a[0-9a-f]+)"/.exec(said)?.[1] ?? 'a000000';
  return asBlock(
    reportOf(status, { agent_id, key_outputs: [found], more: { consolidation_report: CONSOLIDATION, ...more } }),
  );
}

function backend(request: ModelRequest): Answer {
  const { shell } = programOf('claude');
  const said = heard(request);
  const done = toolsIn(request);
  const writes = (file: string, text: string) => ({
    toolCalls: [shell(`mkdir -p ${dirname(file)} && printf '%s' '${text}' > ${file}`)],
  });
  switch (itemOf(said)) {
    case '1': {
      const approved = /(P-[0-9a-f]{32}) is approved/.exec(said)?.[1];
      if (!approved) return report(said, 'APPROVAL_REQUEST', 'the store needs a table', { approval_request: APPROVAL });
      if (done === 0) return { toolCalls: [shell(`baton exec --approval ${approved} -- ${MIGRATION}`)] };
      return report(said, 'COMPLETE', 'the table is there');
    }
    case '2': {
      // The rework goes on in the conversation that has written the file once.
      const isRework = said.includes('Name the unit');
      const text = isRework ? '{"requestsPerMinute":60,"per":"caller"}' : '{"requestsPerMinute":60}';
      return done > (isRework ? 1 : 0)
        ? report(said, 'COMPLETE', 'sixty a minute')
        : writes('service/limits.json', text);
    }
    default:
      return done > 0 ? report(said, 'COMPLETE', 'described') : writes('docs/limit.md', 'Sixty a minute.');
  }
}

/** On the last item it gets the unit wrong, claims that all is well, and mends it when its checker finds otherwise. */
function docs(request: ModelRequest): Answer {
  const { shell } = programOf('codex');
  const said = heard(request);
  if (itemOf(said) !== '3') return report(said, 'COMPLETE', 'it is described');
  const isFound = said.includes('found otherwise');
  if (toolsIn(request) > (isFound ? 1 : 0)) return report(said, 'COMPLETE', 'the page is correct');
  return { toolCalls: [shell(`printf '%s' 'Sixty ${isFound ? 'a minute' : 'an hour'}.' > docs/limit.md`)] };
}

const APPROVAL = {
  operation: 'adds the table of counters to the store',
  exact_content: MIGRATION,
  scope: 'the store of this machine',
  risk_level: 'MEDIUM',
  rollback: 'node tools/migrate.mjs --drop counters',
  verification: 'node tools/migrate.mjs --list shows counters',
};

function model(): (request: ModelRequest) => Answer {
  let isRejected = false;
  return (request) => {
    const said = heard(request);
    switch (roleOf(request)) {
      case 'lead':
        return PLAN;
      case 'backend':
        return backend(request);
      case 'docs':
        return docs(request);
      case 'evaluate': {
        if (itemOf(said) !== '2' || isRejected) return '{"satisfied":true,"context":"Every criterion holds."}';
        isRejected = true;
        return '{"satisfied":false,"context":"Sixty requests a minute of whom? Name the unit."}';
      }
      default:
        return 'New: each caller may ask sixty times a minute.';
    }
  };
}

/** The example as a repository of its own, with its agents' models on loopback and their pins renewed for that. */
async function relay() {
  const dir = repository();
  cpSync(EXAMPLE, dir, { recursive: true });
  rmSync(join(dir, 'agents.json'));
  const home = homeFolder();
  const server = await modelServer({ answers: model() });
  onTestFinished(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });
  const set = REAL.map((program) => [program.name, program.setUp(server.url, home)] as const);
  const file = join(dir, '.baton/config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as JsonObject & { materia: Record<string, JsonObject> };
  for (const [id, materia] of Object.entries(config.materia)) {
    config.materia[id] = { ...materia, ...(set.find(([name]) => name === materia.runner)?.[1].materia ?? {}) };
  }
  writeFileSync(file, JSON.stringify(config, null, 2));
  const PATH = `${join(CLI, 'node_modules', '.bin')}:${process.env.PATH}`;
  const env = {
    ...Object.assign({}, ...set.map(([, { env }]) => env)),
    HOME: home,
    PATH,
    TMPDIR: scratchFolder(),
  } as NodeJS.ProcessEnv;
  const run = (...args: string[]): Promise<Ran> => baton(dir, args, { env });
  expect((await run('registry', 'lock', '--reason', 'models on loopback')).code).toBe(0);
  commit(dir, 'the service');
  /** Starts a command and kills it as soon as it is so. */
  const killed = async (args: readonly string[], isSo: () => boolean) => {
    const running = start(dir, args, { env });
    while (!isSo() && running.child.exitCode === null) await sleep(50);
    expect(running.child.exitCode).toBeNull();
    running.child.kill('SIGKILL');
    await running.ended;
  };
  const asked = (role: string) => server.requests.filter((request) => roleOf(request) === role).length;
  return { dir, run, killed, asked };
}

test('the relay runs on the three real programs, over three kills', { timeout: 600_000 }, async () => {
  const { dir, run, killed, asked } = await relay();
  await killed(['cast', REQUEST], () => asked('backend') >= 1);
  await killed(['resume'], () => asked('docs') >= 1);
  const waiting = json<JsonObject>(await run('resume', '--json'));
  expect([waiting.status, waiting.code]).toEqual(['waiting', 'APPROVAL_NEEDED']);
  const [wanted] = json<readonly JsonObject[]>(await run('approvals', '--json'));
  await killed(['approve', String(wanted?.id)], () => asked('evaluate') >= 3);
  const refused = json<JsonObject>(await run('resume', '--json'));
  expect([refused.status, refused.code]).toEqual(['failed', 'BOUNDARY_NOT_ALLOWED']);

  const manifest = join(dir, '.baton/versions/prompt-manifest.json');
  const reach = '[{ "target": "domain-01-backend" }';
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(reach, `${reach}, { "target": "domain-04-publish" }`));
  expect((await run('registry', 'lock', '--reason', 'the evaluator may publish')).code).toBe(0);
  const done = json<JsonObject>(await run('recast', '--json'));
  expect(done.status).toBe('completed');

  // The approved command ran once, in the agent's own hands, and what the team did is on the branch of the cast.
  const facts = json<readonly (JsonObject & { kind: string })[]>(await run('log', '--json', '--after', '0'));
  expect(facts.filter(({ kind }) => kind === 'approval.used')).toHaveLength(1);
  expect(facts.find(({ kind }) => kind === 'approval.finished')).toMatchObject({ exit: 0 });
  const codes = facts.flatMap(({ kind, verdict }) =>
    kind === 'attempt.refused' && isObject(verdict) ? [verdict.code] : [],
  );
  expect(codes).toEqual(['ACCEPTANCE_FAILED']);
  const show = (file: string) =>
    execFileSync('git', ['-C', dir, 'show', `baton/${String(done.cast)}:${file}`], { encoding: 'utf8' });
  expect(show('store/tables.txt')).toContain('counters');
  expect(show('service/limits.json')).toContain('"per":"caller"');
  expect(show('docs/limit.md')).toBe('Sixty a minute.');

  expect((await run('export', 'latest', '-o', 'run.baton')).code).toBe(0);
  const verifier = join(CHECKOUT, 'verifier/verify.mjs');
  expect(execFileSync(process.execPath, [verifier, join(dir, 'run.baton')], { encoding: 'utf8' })).toMatch(
    /^OK: \d+ facts/,
  );
});
