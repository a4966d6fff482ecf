// All four layers in one cast: a plan with lock scopes, specialists who report with a status, a false claim, a permission, a
// rejection, a refused boundary, three kills, and a bundle that a stranger can verify. The story is told by the log alone.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { baton, CHECKOUT, project, type Ran, start } from './baton.ts';
import { commit, repository } from './repository.ts';

const REQUEST = 'Limit how often the service may be asked, and describe the limit';

function relay(): string {
  const dir = repository();
  cpSync(join(CHECKOUT, 'examples/relay'), dir, { recursive: true });
  commit(dir, 'the service');
  return dir;
}

/** Starts a command, ends it with SIGKILL once it has said this, and waits until it is gone. */
async function killedAt(dir: string, args: readonly string[], said: RegExp): Promise<void> {
  const run = start(dir, args);
  await expect.poll(() => run.stderr(), { timeout: 60_000, interval: 10 }).toMatch(said);
  run.child.kill('SIGKILL');
  await run.ended;
}

const PATIENT = { timeout: 180_000 };
const told = ({ stdout }: Ran) => JSON.parse(stdout);

test(
  'the relay runs through all four layers, survives three kills, and can be verified by a stranger',
  PATIENT,
  async () => {
    const dir = relay();
    await killedAt(dir, ['cast', '--agents', 'agents.json', REQUEST], /Backend · 2\/3/);
    await killedAt(dir, ['resume'], /Docs · 2\/3/);
    const waiting = told(await baton(dir, ['resume', '--json']));
    expect([waiting.status, waiting.code]).toEqual(['waiting', 'APPROVAL_NEEDED']);

    const [wanted] = told(await baton(dir, ['approvals', '--json']));
    expect(JSON.stringify(wanted)).toContain('node tools/migrate.mjs --add counters');
    await killedAt(dir, ['approve', wanted.id], /Describe the limit/);
    const asking = told(await baton(dir, ['resume', '--json']));
    expect([asking.status, asking.code]).toEqual(['waiting', 'ANSWER_NEEDED']);
    expect(asking.reason).toContain('Is the limit meant for each caller');
    // The approved command ran, once, in the worktree of the cast.
    expect(readFileSync(resolve(dir, asking.root, 'store/tables.txt'), 'utf8')).toBe('counters\n');
    const refused = told(await baton(dir, ['answer', '--json', 'latest', 'For each caller.']));
    expect([refused.status, refused.code]).toEqual(['failed', 'BOUNDARY_NOT_ALLOWED']);
    expect(refused.reason).toContain('suggested target: orchestrator-01-lead');

    // A person decides that the evaluator may hand to whoever publishes, locks that, and goes on.
    const manifest = join(dir, '.baton/versions/prompt-manifest.json');
    const text = readFileSync(manifest, 'utf8');
    const wider = text.replace(
      '[{ "target": "domain-01-backend" }]',
      '[{ "target": "domain-01-backend" }, { "target": "domain-04-publish" }]',
    );
    expect(wider).not.toBe(text);
    writeFileSync(manifest, wider);
    expect((await baton(dir, ['registry', 'lock', '--reason', 'the evaluator may publish'])).code).toBe(0);
    const done = told(await baton(dir, ['recast', '--json']));
    expect([done.status, done.data.workItems.length]).toEqual(['completed', 3]);

    const log = (await baton(dir, ['log', '--after', '0'])).stdout;
    expect(log.match(/command 1 ended with 0/g)).toHaveLength(1);
    expect(log).toContain('For each caller.');
    expect(done.notRun).toBeUndefined();
    for (const code of ['ACCEPTANCE_FAILED', 'BOUNDARY_NOT_ALLOWED', 'WRITE_NOT_PERMITTED', 'APPROVAL_NEEDED']) {
      expect(log).toContain(code);
    }
    expect(log).toContain('Sixty requests a minute of whom?');

    expect((await baton(dir, ['export', 'latest', '-o', 'run.baton'])).code).toBe(0);
    const verdict = execFileSync(process.execPath, [join(CHECKOUT, 'verifier/verify.mjs'), join(dir, 'run.baton')], {
      encoding: 'utf8',
    });
    expect(verdict).toMatch(/^OK: \d+ facts of the cast/);
  },
);

test(
  'as its README says, the relay begins twice in the same folder, and the log is whole each time',
  PATIENT,
  async () => {
    const root = project();
    const readme = readFileSync(join(CHECKOUT, 'examples/relay/README.md'), 'utf8');
    const [, block = ''] = /```sh\n(.*?)```/s.exec(readme.slice(readme.indexOf('## Run it'))) ?? [];
    expect(block).toContain('baton cast --agents agents.json');
    const script = block.replaceAll('/tmp/relay', join(root, 'relay')).replace(/ +# .*$/gm, '');
    const git = ['GIT_AUTHOR', 'GIT_COMMITTER'].map((who) => ({ [`${who}_NAME`]: 'a', [`${who}_EMAIL`]: 'a@b' }));
    const env = { PATH: `${join(CHECKOUT, 'bin')}:${process.env.PATH}`, ...Object.assign({}, ...git) };
    for (const time of ['first', 'second']) {
      const how = { env, program: ['sh', '-c', `cd "$0" && ${script.trim().split(/\n\s*/).join(' && ')}`, CHECKOUT] };
      const done = await baton(root, [], how);
      expect([time, done.code, done.stdout]).toEqual([time, 4, expect.stringContaining('APPROVAL_NEEDED')]);
      const checkpoints = { ...env, BATON_CHECKPOINTS: join(root, 'relay-checkpoints') };
      const verified = told(await baton(join(root, 'relay'), ['audit', 'verify', '--json'], { env: checkpoints }));
      expect([time, verified.code, verified.details.checkpoints.outside > 0]).toEqual([time, 'OK', true]);
    }
  },
);
