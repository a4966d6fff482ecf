// The skill file teaches what is checked: whoever knows nothing but its text reports in a way that passes.
import { expect, test } from 'vitest';
import { OWNERSHIP_ASSESSMENTS } from '../../dialects/gaia/contract.ts';
import { readReport } from '../../dialects/gaia/read.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { PLAN_STATUSES } from '../../kernel/report/status.ts';
import { readingSkillText, skillHost, skillText } from './skill.ts';

const TEXT = skillText();
const FILE = skillHost.files[0] ?? '';
const HOW = { program: 'baton', dir: '/p', reportOnly: false };

/** An agent that has read the text and nothing else: it fills in the example, with what the text says about the status. */
function answerFrom(text: string, status: string, isShared: boolean): string {
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, tag = '', body = '']) => ({
    tag,
    value: JSON.parse(body) as JsonObject,
  }));
  const [{ tag, value: report } = { tag: '', value: {} }, ...sections] = blocks;
  const known = isObject(report.agent_status) ? report.agent_status : {};
  const more = sections.filter(({ value }) => ('approval_request' in value ? status === 'APPROVAL_REQUEST' : isShared));
  const own = Object.assign({ ...report }, ...more.map(({ value }) => value), {
    agent_status: { ...known, plan_status: status },
  });
  return `I did what I could.\n\n\`\`\`${tag}\n${JSON.stringify(own, null, 2)}\n\`\`\`\n`;
}

const statusesIn = (text: string) => [...text.matchAll(/^ {2}- ([A-Z_]+):/gm)].map(([, status = '']) => status);

test('it begins as a skill does', () => {
  expect(TEXT).toMatch(/^---\nname: agent-contract-handoff\ndescription: .{40,1000}\n---\n/);
});

test('how an approved command runs is told: with its id, once, alone on its line', () => {
  expect(TEXT).toContain('run it with `baton exec --approval ID -- ` and the words of the command, once, and alone on');
});

test('every status is explained, and what may follow it', () => {
  expect(statusesIn(TEXT)).toEqual([...PLAN_STATUSES]);
  for (const status of PLAN_STATUSES) expect(TEXT).toContain(`- after ${status}: `);
});

test.each(statusesIn(TEXT))('whoever reads only this reports %s in a way that passes', (status) => {
  expect(readReport(answerFrom(TEXT, status, false))).toMatchObject({ allow: true, details: { plan_status: status } });
  const told = { surface_routing: { multi_surface: true } };
  expect(readReport(answerFrom(TEXT, status, true), { injectedContext: told })).toMatchObject({ allow: true });
});

test('without the sections it teaches, the same report does not pass', () => {
  const told = { surface_routing: { multi_surface: true } };
  expect(readReport(answerFrom(TEXT, 'COMPLETE', false), { injectedContext: told }).allow).toBe(false);
});

test('its own file is replaced and removed, that of somebody else is left alone', () => {
  expect(skillHost.add(FILE, null, HOW)).toBe(TEXT);
  expect(skillHost.remove(FILE, TEXT)).toBeNull();
  expect(skillHost.remove(FILE, '# mine\n')).toBe('# mine\n');
  expect(skillHost.add(FILE, '# mine\n', HOW)).toMatchObject({ allow: false, code: 'NOT_ALLOWED_NOW' });
});

test('whoever reads only this knows what each status leads to', () => {
  const text = readingSkillText();
  expect(text).toMatch(/^---\nname: agent-contract-reading\ndescription: .{40,1000}\n---\n/);
  const told = [...text.matchAll(/^- (\w+): .{20,}$/gm)].map(([, word]) => word);
  expect(told).toEqual([...PLAN_STATUSES, ...OWNERSHIP_ASSESSMENTS]);
  expect(text).toContain('pass it on nearly as it is');
});

test('there is a file for each, and it is its own', () => {
  const [writing = '', reading = ''] = skillHost.files;
  expect(skillHost.files).toHaveLength(2);
  expect([skillHost.add(writing, null, HOW), skillHost.add(reading, null, HOW)]).toEqual([TEXT, readingSkillText()]);
  expect(skillHost.remove(reading, readingSkillText())).toBeNull();
});
