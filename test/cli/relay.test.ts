// All four layers in one cast: a plan with lock scopes, specialists who report with a status, a false claim, a permission, a
// rejection, a refused boundary, three kills, and a bundle that a stranger can verify. The story is told by the log alone.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { baton, CHECKOUT, type Ran, start } from './baton.ts';
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
    const refused = told(await baton(dir, ['resume', '--json']));
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
