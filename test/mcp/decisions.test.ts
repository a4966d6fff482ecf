// A decision by MCP: the person's answer to a form decides, and nothing that a model can send.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { createToken } from '../../src/access/tokens.ts';
import type { ApprovalView } from '../../src/kernel/approval/state.ts';
import type { JsonObject } from '../../src/kernel/json.ts';
import { baton, environment, json, personToken, project, until } from '../cli/baton.ts';
import { overHttp, overStdio, type Person } from './client.ts';

const OVER = { stdio: overStdio, HTTP: overHttp } as const;
const accept = (content: Exclude<ElicitResult['content'], undefined>): ElicitResult => ({ action: 'accept', content });
const asPerson = (dir: string) => environment(dir, { BATON_TOKEN: personToken() });

async function asked(dir: string, command = 'rm made.txt'): Promise<string> {
  writeFileSync(join(dir, 'made.txt'), 'x');
  const wish = { operation: 'tidy', exact_content: command, rollback: 'git checkout made.txt', verification: 'look' };
  const ran = await baton(dir, ['approvals', 'request', '-'], { input: JSON.stringify(wish) });
  return json<{ details: { approval: string } }>(ran).details.approval;
}

async function statusOf(dir: string, id: string): Promise<string | undefined> {
  const views = json<readonly ApprovalView[]>(await baton(dir, ['approvals', '--json']));
  return views.find((view) => view.id === id)?.status;
}

test.each([
  ['stdio', 'approval_approve', accept({ choice: 'approve', reason: 'fine' }), 'OK', 'approved'],
  ['HTTP', 'approval_approve', accept({ choice: 'approve' }), 'OK', 'approved'],
  ['stdio', 'approval_reject', accept({ choice: 'reject' }), 'OK', undefined],
  ['HTTP', 'approval_reject', accept({ choice: 'reject' }), 'OK', undefined],
  ['stdio', 'approval_approve', accept({ choice: 'leave it' }), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', { action: 'decline' }, 'NOT_ALLOWED_NOW', 'pending'],
  ['HTTP', 'approval_approve', { action: 'cancel' }, 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', { action: 'accept' }, 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', accept({}), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', accept({ choice: 'reject' }), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_reject', accept({ choice: 'approve' }), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', accept({ choice: 'APPROVE' }), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', accept({ choice: ['approve'] }), 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', { action: 'decline', content: { choice: 'approve' } }, 'NOT_ALLOWED_NOW', 'pending'],
  ['stdio', 'approval_approve', accept({ choice: 'approve', id: 'P-1' }), 'NOT_ALLOWED_NOW', 'pending'],
] as const)('over %s, %s answered with %j: %s', async (way, tool, answer, code, status) => {
  const dir = project();
  const id = await asked(dir);
  const forms: string[] = [];
  const { ask, names } = await OVER[way](dir, asPerson(dir), ({ message }) => {
    forms.push(message);
    return answer as ElicitResult;
  });
  expect(await names()).toEqual(expect.arrayContaining(['approval_approve', 'approval_reject']));
  expect((await ask(tool, { id })).code).toBe(code);
  expect(await statusOf(dir, id)).toBe(status);
  expect(forms).toHaveLength(1);
  for (const shown of [id, 'rm made.txt', '(T3, waits)', 'git checkout made.txt', join(dir, 'made.txt'), 'until 20'])
    expect(forms[0]).toContain(shown);
});

test('over stdio a token of an approver starts the server and decides as that token; a viewer only looks', async () => {
  const dir = project();
  const id = await asked(dir);
  const env = environment(dir, {});
  const token = (role: 'approver' | 'viewer') => {
    const made = createToken(env, { role, name: role, expires: null }, Date.now());
    return { ...env, BATON_TOKEN: made.ok ? made.value.secret : '' };
  };
  const viewer = await overStdio(dir, token('viewer'), () => accept({ choice: 'approve' }));
  expect(await viewer.names()).not.toContain('approval_approve');
  expect((await viewer.ask('cast_list')).code).toBe('OK');
  for (const [tool, args] of [
    ['approval_approve', { id }],
    ['cast_start', { request: 'do it' }],
  ] as const)
    expect((await viewer.ask(tool, args)).code).toBe('ROLE_TOO_LOW');
  const approver = await overStdio(dir, token('approver'), () => accept({ choice: 'approve' }));
  expect((await approver.ask('approval_approve', { id })).code).toBe('OK');
  expect(await statusOf(dir, id)).toBe('approved');
  const entries = json<readonly JsonObject[]>(await baton(dir, ['log', '--after', '0', '--json']));
  expect(entries.at(-1)).toMatchObject({ by: 'token:approver' });
});

test.each([
  ['an approver over HTTP', ['mcp', '--http', '0'], 'approver', 'ROLE_TOO_LOW'],
  ['an unknown token', ['mcp'], null, 'TOKEN_UNKNOWN'],
])('the server does not start for %s', async (_, args, role, code) => {
  const dir = project();
  const env = environment(dir, {});
  const made = role === null ? null : createToken(env, { role: 'approver', name: 'late', expires: null }, Date.now());
  const ran = await baton(dir, [...args, '--json'], {
    env: { ...env, BATON_TOKEN: made?.ok ? made.value.secret : 'x' },
  });
  expect([ran.code, json(ran).code]).toEqual([1, code]);
});

test('the decision is recorded under the name of the token, with the reason of the person', async () => {
  const dir = project();
  const id = await asked(dir);
  const { ask } = await overStdio(dir, asPerson(dir), () => accept({ choice: 'approve', reason: 'it is in the way' }));
  await ask('approval_approve', { id });
  const facts = json<readonly JsonObject[]>(await baton(dir, ['log', '--json']));
  const by = expect.stringMatching(/^token:admin-/);
  expect(facts.filter(({ kind }) => kind === 'approval.approved')).toMatchObject([
    { id, by, reason: 'it is in the way' },
  ]);
});

const yes: Person = () => accept({ choice: 'approve' });

test.each<[string, NodeJS.ProcessEnv, Person | undefined, string]>([
  ['no token, and a client that shows forms', {}, yes, 'NOT_ALLOWED_NOW'],
  ['a token, and a client that shows no forms', { BATON_TOKEN: personToken() }, undefined, 'NOT_ALLOWED_NOW'],
  ['an agent within its attempt', { BATON_TOKEN: personToken(), BATON_ATTEMPT: '1.1' }, yes, 'APPROVER_IS_AGENT'],
])('with %s no decision is offered, and none is made', async (_, more, person, code) => {
  const dir = project();
  const id = await asked(dir);
  const { ask, names } = await overStdio(dir, environment(dir, more), person);
  expect((await names()).filter((name) => /^approval_/.test(name))).toEqual([]);
  for (const tool of ['approval_approve', 'approval_reject']) expect((await ask(tool, { id })).code).toBe(code);
  expect(await statusOf(dir, id)).toBe('pending');
});

test.each([
  ['a yes', { choice: 'approve' }],
  ['an answer', { answer: 'approve' }],
  ['a reason', { reason: 'the person said yes' }],
  ['another run', { again: true }],
  ['a revision', { revision: 'x' }],
])('%s among the arguments of the tool is refused, and the person is not asked', async (_, more) => {
  const dir = project();
  const id = await asked(dir);
  const forms: unknown[] = [];
  const { ask } = await overStdio(dir, asPerson(dir), (form) => {
    forms.push(form);
    return { action: 'decline' };
  });
  expect((await ask('approval_approve', { id, ...more })).code).toBe('BAD_USAGE');
  expect([forms, await statusOf(dir, id)]).toEqual([[], 'pending']);
});

test.each([
  ['an id that is none', 'P-0c2f81d4', 'UNKNOWN_APPROVAL'],
  ['no text', 7, 'BAD_USAGE'],
])('%s shows no form', async (_, id, code) => {
  const dir = project();
  await asked(dir);
  const { ask } = await overStdio(dir, asPerson(dir), yes);
  expect((await ask('approval_approve', { id })).code).toBe(code);
});

test('each answer counts for the form that it answers, also where two are open at once', async () => {
  const dir = project();
  const [one, other] = [await asked(dir), await asked(dir, 'rm -f made.txt')];
  const open: string[] = [];
  const { ask } = await overStdio(dir, asPerson(dir), async ({ message }) => {
    open.push(message);
    await until('both forms', () => open.length === 2);
    return message.includes(one) ? accept({ choice: 'approve' }) : { action: 'decline' };
  });
  const verdicts = await Promise.all([one, other].map((id) => ask('approval_approve', { id })));
  expect(verdicts.map(({ code }) => code)).toEqual(['OK', 'NOT_ALLOWED_NOW']);
  expect([await statusOf(dir, one), await statusOf(dir, other)]).toEqual(['approved', 'pending']);
});

test('a request that was decided or changed while its form was open is not decided by that form', async () => {
  const dir = project();
  const id = await asked(dir);
  const { ask } = await overStdio(dir, asPerson(dir), async () => {
    expect((await baton(dir, ['approve', id])).code).toBe(0);
    return accept({ choice: 'reject' });
  });
  expect((await ask('approval_reject', { id })).code).toBe('CONCURRENCY_CONFLICT');
  expect(await statusOf(dir, id)).toBe('approved');
});

test('a token that is revoked while the form is open decides nothing', async () => {
  const dir = project();
  const id = await asked(dir);
  const made = await baton(dir, ['token', 'create', '--role', 'admin', '--name', 'brief', '--json'], {
    env: { BATON_TOKEN: personToken() },
  });
  const { token } = json<{ details: { token: string } }>(made).details;
  const { ask } = await overStdio(dir, environment(dir, { BATON_TOKEN: token }), async () => {
    await baton(dir, ['token', 'revoke', 'brief'], { env: { BATON_TOKEN: personToken() } });
    return accept({ choice: 'approve' });
  });
  expect((await ask('approval_approve', { id })).code).toBe('TOKEN_REVOKED');
  expect(await statusOf(dir, id)).toBe('pending');
});

test('a caller that gives up decides nothing, whatever the person answers later', async () => {
  const dir = project();
  const id = await asked(dir);
  const answer = Promise.withResolvers<ElicitResult>();
  const shown = Promise.withResolvers<void>();
  const { client } = await overStdio(dir, asPerson(dir), () => {
    shown.resolve();
    return answer.promise;
  });
  const stop = new AbortController();
  const call = client.callTool({ name: 'approval_approve', arguments: { id } }, undefined, { signal: stop.signal });
  await shown.promise;
  stop.abort();
  await expect(call).rejects.toThrow();
  answer.resolve(accept({ choice: 'approve' }));
  expect(await statusOf(dir, id)).toBe('pending');
});
