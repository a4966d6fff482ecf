// The loadout editor, by mouse and by the keys alone: a workflow is drawn from an empty canvas, saved and cast; mistakes are repaired
// from what the editor says; exits, breaking a loop, layout and the palette are as the seed says.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import seed from '../../examples/graph-semantics-loadout.json' with { type: 'json' };
import { resolve } from '../../src/kernel/graph/resolve.ts';
import type { Json, JsonObject } from '../../src/kernel/json.ts';
import { until } from '../cli/baton.ts';
import { initRepository } from '../init-repository.ts';
import { inBrowser, opened, REFUSALS } from './browser.ts';
import { Served } from './served.ts';

const { materia, budget, limits } = seed as unknown as JsonObject;
const EXAMPLE = (seed as unknown as { loadouts: Record<string, JsonObject> }).loadouts['Software-Workflow'] ?? {};
/** Another colour, so that the picture shows what the materia says. */
const COLOURED = {
  ...(materia as JsonObject),
  Build: { ...((materia as JsonObject).Build as JsonObject), color: 'rgb(1, 2, 3)' },
};

let at: Served;

beforeAll(async () => {
  at = new Served((dir) => {
    initRepository(dir);
    mkdirSync(join(dir, '.baton'), { recursive: true });
    const config = { budget, limits, materia: COLOURED, loadouts: { Example: EXAMPLE, Clash: EXAMPLE } };
    writeFileSync(join(dir, '.baton/config.json'), `${JSON.stringify(config, null, 2)}\n`);
    writeFileSync(join(dir, 'agents.json'), JSON.stringify(AGENTS));
  });
  await at.start();
});
afterAll(() => at?.close());

const AGENTS = {
  'Ignore-Artifacts': [{ satisfied: true }],
  'Detect-VCS': [{ satisfied: true }],
  'Auto-Plan': [{ workItems: [{ title: 'Login', context: 'A form.' }] }],
  Build: ['built', 'built again'],
  'Auto-Eval': [{ satisfied: false, context: 'No test.' }, { satisfied: true }],
  Maintain: [{ satisfied: true }],
  Narrate: ['A login was added.'],
};
const STEPS = ['Ignore-Artifacts', 'Detect-VCS', 'Auto-Plan', 'Build', 'Auto-Eval', 'Maintain', 'Narrate'];

const node = (page: Page, id: string) => page.locator(`[data-socket="${id}"] .node-open`);
const way = (page: Page, id: string) => page.locator(`[data-way="${id}"]`);
const row = (page: Page, id: string) => page.locator(`[data-materia="${id}"]`);
const form = (page: Page) => page.getByRole('complementary', { name: 'Form' });
const segment = (page: Page, group: string, name: string) =>
  page.getByRole('group', { name: group }).getByRole('button', { name, exact: true });
const said = (page: Page, text: RegExp) => page.locator('.editor-said').getByText(text).waitFor();
const quiet = (page: Page) => page.getByText('No issues').waitFor();

async function editor(path: string, options = {}): Promise<Page> {
  const page = await opened(at.link(path), options);
  await page.locator('.canvas').waitFor();
  return page;
}

function written(name: string): JsonObject {
  const config = JSON.parse(readFileSync(join(at.dir, '.baton/config.json'), 'utf8')) as JsonObject;
  return (config.loadouts as Record<string, JsonObject>)[name] ?? {};
}

/** What a loadout means: its graph as a cast runs it, whatever its loop is called and however edges that exclude each other are ordered. */
function meaning(loadout: JsonObject): Json {
  const { graph } = resolve({ materia, loadouts: { L: loadout } } as JsonObject, 'L');
  const byCondition = (one: { when: unknown }, other: { when: unknown }) =>
    String(one.when).localeCompare(String(other.when));
  const sockets = Object.values(graph.sockets).map((each) => ({ ...each, edges: [...each.edges].sort(byCondition) }));
  const loops = graph.loops.map((loop) => ({ ...loop, id: 'loop' }));
  return JSON.parse(JSON.stringify({ ...graph, sockets, loops })) as Json;
}

async function castOf(loadout: string): Promise<JsonObject> {
  const started = await at.ask('cast.start', {
    ...{ request: 'Add a login', loadout, agents: 'agents.json' },
  });
  expect(started.reason, JSON.stringify(started)).not.toMatch(/error/);
  const cast = String(started.details.cast);
  return until(`cast ${cast} to end`, async () => {
    const { details } = await at.ask('cast.show', { cast });
    return details.status === 'completed' || details.status === 'failed' ? details : undefined;
  });
}

inBrowser('by mouse: the workflow of the seed from an empty canvas, saved, of the same meaning, and cast', async () => {
  const page = await opened(at.link('/loadouts'));
  await page.getByRole('button', { name: 'New loadout' }).click();
  await page.getByLabel('Name').fill('Drawn');
  await page.getByRole('button', { name: 'Draw it' }).click();
  await page.getByText('An empty loadout').waitFor();

  const canvas = page.locator('.canvas');
  await row(page, 'Ignore-Artifacts').dragTo(canvas, { targetPosition: { x: 200, y: 200 } });
  await node(page, 'Socket-1').waitFor();
  for (const [n, id] of ['Detect-VCS', 'Auto-Plan', 'Build', 'Maintain', 'Narrate'].entries()) {
    await row(page, id).click();
    await node(page, `Socket-${n + 2}`).waitFor();
  }
  // Auto-Eval is dropped onto the edge from Build to Maintain, which takes it in.
  await page.getByRole('button', { name: 'Fit' }).click();
  await settled(page);
  const [target, frame] = [await way(page, 'edge:Socket-4:0').boundingBox(), await canvas.boundingBox()];
  if (!target || !frame) throw new Error('the edge is not drawn');
  await row(page, 'Auto-Eval').dragTo(canvas, {
    targetPosition: { x: target.x + target.width / 2 - frame.x, y: target.y + target.height / 2 - frame.y },
  });
  await node(page, 'Socket-7').waitFor();
  await settled(page);
  expect(await page.locator('[data-socket]').count()).toBe(7);

  // Work that is not right goes back: a line from the evaluator to the builder.
  await node(page, 'Socket-7').click();
  const from = await page.locator('[data-socket="Socket-7"] .node-out').boundingBox();
  const to = await node(page, 'Socket-4').boundingBox();
  if (!from || !to) throw new Error('the sockets are not drawn');
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(from.x + 40, from.y + 40, { steps: 4 });
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 6 });
  await page.mouse.up();
  await said(page, /tries its conditions first/);
  // A click cycles the condition of the way on.
  await settled(page);
  await way(page, 'edge:Socket-7:1').click();
  await segment(page, 'Condition', 'satisfied').click();
  await way(page, 'edge:Socket-7:1').getByText('satisfied', { exact: true }).waitFor();

  // The loop is made of the three.
  await page.keyboard.press('Escape');
  for (const id of ['Socket-4', 'Socket-7', 'Socket-5']) await node(page, id).click({ modifiers: ['Control'] });
  await page.locator('.graph-tools').getByRole('button', { name: 'Make loop' }).click();
  await page.getByRole('button', { name: /^For each item of Auto-Plan/ }).waitFor();
  await form(page).getByLabel('Maintain', { exact: true }).selectOption('when satisfied');
  await settled(page);
  await page.locator('[data-way^="loop-exit:"]').click();
  await segment(page, 'Condition', 'satisfied').click();
  await quiet(page);

  await page.getByRole('button', { name: 'Save…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('"Drawn"').first().waitFor();
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  // Sockets are numbered as they were drawn; the seed numbers them as they are walked.
  expect(meaning(renumbered(written('Drawn'), [1, 2, 3, 4, 6, 7, 5]))).toEqual(meaning(EXAMPLE));
  expect(await castOf('Drawn')).toMatchObject({ status: 'completed' });
});

/** Sockets under other numbers: the n-th becomes `to[n - 1]`. */
function renumbered(loadout: JsonObject, to: readonly number[]): JsonObject {
  const text = JSON.stringify(loadout).replace(/Socket-(\d+)/g, (_, n: string) => `Socket-${to[Number(n) - 1]}`);
  const next = JSON.parse(text) as { sockets: Record<string, Json> };
  const sockets = Object.entries(next.sockets).sort(([one], [other]) => one.localeCompare(other));
  return { ...next, sockets: Object.fromEntries(sockets) };
}

/** The layout of what is drawn is there, and nothing moves any more. */
async function settled(page: Page): Promise<void> {
  await page.locator('.canvas[data-current="true"]').waitFor();
  await page.waitForTimeout(150);
}

const focused = (page: Page) =>
  page.evaluate(`(() => {
    const it = document.activeElement;
    return (it?.getAttribute('aria-label') ?? it?.labels?.[0]?.textContent ?? it?.textContent ?? '').trim();
  })()`) as Promise<string>;

/** Presses Tab until that has the focus. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    await page.keyboard.press('Tab');
    if (name.test(await focused(page))) return;
  }
  throw new Error(`Tab never came to ${name}; the focus is at ${await focused(page)}`);
}

inBrowser('by the keys alone: the same workflow, drawn, saved, cast, and taken back to nothing', async () => {
  const page = await opened(at.link('/'));
  const { keyboard } = page;
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await keyboard.press('g');
  await keyboard.press('o');
  await page.getByRole('heading', { level: 1, name: 'Loadouts' }).waitFor();
  await keyboard.press('n');
  await page.getByRole('dialog').waitFor();
  await page.getByRole('dialog').getByLabel('Name').focus();
  await keyboard.type('Typed');
  await tabTo(page, /^Draw it$/);
  await keyboard.press('Enter');
  await page.getByText('An empty loadout').waitFor();
  for (const [n, id] of STEPS.entries()) {
    await keyboard.press('a');
    await page.getByRole('combobox', { name: /^Add/ }).waitFor();
    await keyboard.type(id);
    await keyboard.press('Enter');
    await node(page, `Socket-${n + 1}`).waitFor();
  }
  // To the evaluator by the palette, and a connection from there to the builder.
  const toSocket = async (name: string): Promise<void> => {
    await keyboard.press('Control+k');
    const found = page.getByRole('listbox', { name: 'What was found' }).getByRole('option');
    await found.first().waitFor();
    await keyboard.type(name);
    // Enter takes the first one, so it must be the one that was typed.
    await found.first().filter({ hasText: name }).filter({ hasText: 'Socket-' }).waitFor();
    await keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name }).waitFor();
  };
  await toSocket('Auto-Eval');
  await keyboard.press('o');
  await page.getByRole('combobox', { name: /^Connect/ }).waitFor();
  await keyboard.type('Build');
  await keyboard.press('Enter');
  await way(page, 'edge:Socket-5:0').getByText('not satisfied, at most 3', { exact: true }).waitFor();
  // The way on: its words are a button among the others. E cycles always to satisfied.
  await tabTo(page, /^Edge from Auto-Eval to Maintain, always/);
  await keyboard.press('Enter');
  await keyboard.press('Escape');
  await keyboard.press('Shift+Tab');
  await tabTo(page, /^Edge from Auto-Eval to Maintain, always/);
  await keyboard.press('Enter');
  await keyboard.press('e');
  await way(page, 'edge:Socket-5:1').getByText('satisfied', { exact: true }).waitFor();
  // Three sockets: arrows go along edges, the space bar adds to the selection.
  await toSocket('Build');
  await keyboard.press('ArrowRight');
  await page.getByRole('heading', { level: 2, name: 'Auto-Eval' }).waitFor();
  await toSocket('Build');
  await tabTo(page, /^Auto-Eval, Socket-5/);
  await keyboard.press('Space');
  await tabTo(page, /^Maintain, Socket-6/);
  await keyboard.press('Space');
  await page.getByRole('heading', { level: 2, name: '3 sockets' }).waitFor();
  await keyboard.press('l');
  await page.getByRole('heading', { level: 2, name: 'For each item of Auto-Plan' }).waitFor();
  await keyboard.press('f');
  await tabTo(page, /^Maintain$/);
  await keyboard.type('when s');
  await expect.poll(() => form(page).getByLabel('Maintain', { exact: true }).inputValue()).toBe('satisfied');
  await tabTo(page, /^Exit from|^Maintain, always$/);
  await keyboard.press('Enter');
  await keyboard.press('e');
  await page.locator('[data-way="loop-exit:each-auto-plan:exit:Socket-6:satisfied"]').waitFor();
  await quiet(page);
  await keyboard.press('Control+s');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('"Typed"').first().waitFor();
  await tabTo(page, /^Save/);
  await keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  expect(meaning(written('Typed'))).toEqual(meaning(EXAMPLE));
  expect(await castOf('Typed')).toMatchObject({ status: 'completed' });

  // Undo goes back to nothing, redo to the whole.
  for (let steps = 0; steps < 40 && (await page.locator('.node').count()) > 0; steps++)
    await keyboard.press('Control+z');
  await page.getByText('An empty loadout').waitFor();
  for (let steps = 0; steps < 40; steps++) await keyboard.press('Control+Shift+z');
  await page.locator('[data-way="loop-exit:each-auto-plan:exit:Socket-6:satisfied"]').waitFor();
});

inBrowser(
  'the picture of the seed: groups, badges over the own colour, exits as edges, a loop that is broken',
  async () => {
    const page = await editor('/loadouts/Example');
    await settled(page);
    // G49: utilities are in their group of the palette.
    const utilities = page.getByRole('region', { name: 'Utility' }).getByRole('button');
    expect(await utilities.allTextContents()).toEqual(['Ignore-Artifacts', 'Detect-VCS']);
    // G53: the badge is read, and the colour is that of the materia.
    await page.getByRole('button', { name: 'Auto-Plan, Socket-3: Generator, claude' }).waitFor();
    const build = page.getByRole('button', { name: 'Build, Socket-4: Loop consumer, claude' });
    await build.waitFor();
    const colour = await page.evaluate(
      `getComputedStyle(document.querySelector('[data-socket="Socket-4"] .materia')).backgroundColor`,
    );
    expect(colour).toBe('rgb(1, 2, 3)');

    // G47: editing the exit changes the exits of the loop, and no edge of a socket.
    const before = await jsonOf(page);
    await way(page, 'loop-exit:workItemIteration:exit:Socket-6:satisfied').click();
    await segment(page, 'Condition', 'not satisfied').click();
    await way(page, 'loop-exit:workItemIteration:exit:Socket-6:not_satisfied').waitFor();
    const edited = await jsonOf(page);
    expect(edited.sockets).toEqual(before.sockets);
    expect(edited.loops).toMatchObject({ workItemIteration: { exits: [{ condition: 'not_satisfied' }] } });
    await way(page, 'loop-exit:workItemIteration:exit:Socket-6:not_satisfied').click();
    await page.keyboard.press('Backspace');
    await way(page, 'loop-exit:workItemIteration:exit:Socket-6:not_satisfied').waitFor({ state: 'detached' });
    const removed = await jsonOf(page);
    expect(removed.sockets).toEqual(before.sockets);
    expect(removed.loops).toMatchObject({ workItemIteration: { sockets: ['Socket-4', 'Socket-5', 'Socket-6'] } });
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');

    // G42: breaking the loop removes its exits and says which. Sockets and edges stay.
    await page.getByRole('button', { name: /^For each item of Auto-Plan/ }).click();
    await form(page)
      .getByText('Breaking the loop keeps its sockets and edges, and removes 1 exit: Maintain to Narrate')
      .waitFor();
    await form(page).getByRole('button', { name: 'Break the loop' }).click();
    await said(page, /The loop workItemIteration is removed, with its exit: Maintain to Narrate/);
    const broken = await jsonOf(page);
    expect(broken.loops).toBeUndefined();
    expect(broken.sockets).toEqual(before.sockets);
    await page.keyboard.press('Control+z');
    expect(await jsonOf(page)).toEqual(before);
  },
);

/** The loadout as the other face shows it. */
async function jsonOf(page: Page): Promise<JsonObject> {
  await page.keyboard.press('Control+\\');
  const area = page.locator('.text-area textarea');
  await area.waitFor();
  const config = JSON.parse(await area.inputValue()) as { loadouts: Record<string, JsonObject> };
  await page.keyboard.press('Control+\\');
  await area.waitFor({ state: 'detached' });
  return Object.values(config.loadouts)[0] ?? {};
}

inBrowser('sockets are moved by hand under `layout`, which changes no meaning, and arranged again', async () => {
  const page = await editor('/loadouts/Example');
  await settled(page);
  const before = await jsonOf(page);
  const box = await node(page, 'Socket-7').boundingBox();
  if (!box) throw new Error('the socket is not drawn');
  await page.mouse.move(box.x + 60, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x - 200, box.y + 90, { steps: 6 });
  await page.mouse.up();
  const moved = await jsonOf(page);
  const { layout, ...rest } = moved;
  expect(Object.keys((layout as { sockets: JsonObject }).sockets).sort()).toEqual(
    STEPS.map((_, n) => `Socket-${n + 1}`),
  );
  expect(rest).toEqual(before);
  await node(page, 'Socket-7').click();
  await page.keyboard.press('Alt+ArrowDown');
  expect((await jsonOf(page)).layout).not.toEqual(layout);
  await page.keyboard.press('Shift+A');
  expect(await jsonOf(page)).toEqual(before);
});

inBrowser(
  'materia are swapped, emptied without losing links, copied to another loadout; all of it is taken back',
  async () => {
    const page = await editor('/loadouts/Example');
    await settled(page);
    const before = await jsonOf(page);
    const materiaOf = async (): Promise<readonly unknown[]> =>
      Object.values((await jsonOf(page)).sockets as Record<string, JsonObject>).map((socket) => socket.materia ?? null);
    // A socket that is dropped on another one swaps what is in them.
    const [a, b] = [await node(page, 'Socket-1').boundingBox(), await node(page, 'Socket-2').boundingBox()];
    if (!a || !b) throw new Error('the sockets are not drawn');
    await page.mouse.move(a.x + 60, a.y + 30);
    await page.mouse.down();
    await page.mouse.move(b.x + 60, b.y + 32, { steps: 8 });
    await page.mouse.up();
    expect((await materiaOf()).slice(0, 2)).toEqual(['Detect-VCS', 'Ignore-Artifacts']);
    await node(page, 'Socket-2').click();
    await page.keyboard.press('Backspace');
    expect((await materiaOf())[1]).toBeNull();
    await way(page, 'edge:Socket-2:0').waitFor();
    await row(page, 'Detect-VCS').dragTo(node(page, 'Socket-2'));
    expect((await materiaOf()).slice(0, 2)).toEqual(['Detect-VCS', 'Detect-VCS']);
    for (let steps = 0; steps < 3; steps++) await page.keyboard.press('Control+z');
    expect(await jsonOf(page)).toEqual(before);

    // Copied here, pasted there.
    await page.keyboard.press('Escape');
    for (const id of ['Socket-4', 'Socket-5']) await node(page, id).click({ modifiers: ['Control'] });
    await page.keyboard.press('Control+c');
    await said(page, /2 sockets copied/);
    await page.evaluate(
      `history.pushState(null, '', '/loadouts/Pasted?new=1'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByText('An empty loadout').waitFor();
    await page.keyboard.press('Control+v');
    await node(page, 'Socket-2').waitFor();
    await way(page, 'edge:Socket-1:0').waitFor();
  },
);

/** A mistake in the text of the other face, what the checks say, and whether one press repairs it. */
const MISTAKES: readonly (readonly [what: string, from: RegExp, to: string, code: string, isMechanical: boolean])[] = [
  ['an edge to a socket that is not there', /"to": "Socket-3"/, '"to": "Socket-33"', 'UNKNOWN_ENDPOINT', true],
  ['a condition that is none', /"when": "satisfied", "to"/, '"when": "satisfid", "to"', 'INVALID_EDGE_CONDITION', true],
  ['a materia that is misspelt', /"materia": "Narrate"/, '"materia": "Narate"', 'UNKNOWN_MATERIA', true],
  ['a field that is misspelt', /"parse": "text"/, '"prase": "text"', 'INVALID_CONFIG', true],
  [
    'a verdict of a step that answers in text',
    /"materia": "Auto-Eval", "parse": "json"|"materia": "Auto-Eval",\s+"parse": "json"/,
    '"materia": "Auto-Eval", "parse": "text"',
    'INVALID_EDGE_CONDITION',
    true,
  ],
  ['an entry that is not there', /"entry": "Socket-1"/, '"entry": "Socket-9"', 'UNKNOWN_ENDPOINT', true],
  [
    'an exit that leads nowhere',
    /"targetSocketId": "Socket-7"/,
    '"targetSocketId": "Socket-70"',
    'UNKNOWN_ENDPOINT',
    true,
  ],
  [
    'a member of the loop that is not there',
    /"sockets": \["Socket-4", "Socket-5", "Socket-6"\]/,
    '"sockets": ["Socket-4", "Socket-5", "Socket-6", "Socket-66"]',
    'UNKNOWN_ENDPOINT',
    true,
  ],
];

inBrowser('each mistake is said at its place, and repaired from what the editor says', async () => {
  const page = await editor('/loadouts/Example?face=picture&beside=json');
  const area = page.locator('.text-area textarea');
  await area.waitFor();
  const sound = await area.inputValue();
  for (const [what, from, to, code, isMechanical] of MISTAKES) {
    expect(sound, what).toMatch(from);
    await area.fill(sound.replace(from, to));
    const issue = page.locator(`.draft-checks-list li[data-code="${code}"]`).first();
    await issue.waitFor();
    await page.getByRole('region', { name: 'Checks' }).getByText('A cast cannot start. It can be saved.').waitFor();
    await page.keyboard.press('F8');
    if (isMechanical) {
      await issue.getByRole('button').last().click();
      await expect
        .poll(() => page.locator('.draft-checks-list li').filter({ hasText: 'error' }).count(), { message: what })
        .toBe(0);
    }
    await area.fill(sound);
    await quiet(page);
  }
  // A text that is no JSON keeps the last good picture, and says the line.
  await area.fill(sound.replace('"entry":', '"entry"'));
  await page.getByText(/^Line \d+, column \d+/).waitFor();
  await page.locator('.canvas-stale').waitFor();
  await area.fill(sound);
  await page.locator('.canvas-stale').waitFor({ state: 'detached' });
});

inBrowser('a draft is tried step by step: brief, answer by hand, state, a step back, and to the end', async () => {
  const page = await editor('/loadouts/Example', { mayLog: REFUSALS });
  await page.keyboard.press('t');
  const trial = page.getByRole('complementary', { name: 'Try it' });
  await trial.getByRole('region', { name: 'Ignore-Artifacts waits' }).waitFor();
  for (const name of ['Detect-VCS', 'Auto-Plan', 'Build', 'Auto-Eval']) {
    await page.keyboard.press('n');
    await trial.getByRole('region', { name: `${name} waits` }).waitFor();
  }
  await page.locator('[data-socket="Socket-5"]').getByText('item 1').waitFor();
  await trial.getByLabel('Answer as Auto-Eval').fill('{"satisfied": false, "context": "no test"}');
  await trial.getByRole('button', { name: 'Answer as Auto-Eval' }).click();
  const build = trial.getByRole('region', { name: 'Build waits' });
  await build.getByText('The brief it reads').click();
  await build.getByRole('region', { name: 'Brief of Build' }).getByText('no test').waitFor();
  await trial.getByRole('button', { name: 'Back' }).click();
  await trial.getByRole('region', { name: 'Auto-Eval waits' }).waitFor();
  await trial.getByRole('button', { name: 'To the end' }).click();
  await trial.getByText('The cast is complete.').last().waitFor();
  expect(await trial.getByRole('listitem').count()).toBe(10);
  await trial.getByRole('button', { name: /^Auto-Plan/ }).click();
  await trial.getByRole('region', { name: 'State after it of Auto-Plan' }).getByText('workItems').first().waitFor();
});

inBrowser('a file that changed underneath is merged and never written over', async () => {
  const page = await editor('/loadouts/Clash', { mayLog: REFUSALS });
  await settled(page);
  await node(page, 'Socket-5').click();
  await form(page).getByText('This socket: name and words').click();
  await form(page).locator('[data-field="label"] input').last().fill('Judge');
  // Somebody else writes: another place, and the same one.
  const file = join(at.dir, '.baton/config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as {
    loadouts: Record<string, { sockets: Record<string, JsonObject> }>;
  };
  const clash = config.loadouts.Clash;
  if (!clash) throw new Error('no loadout');
  clash.sockets['Socket-5'] = { ...clash.sockets['Socket-5'], label: 'Reviewer' };
  clash.sockets['Socket-7'] = { ...clash.sockets['Socket-7'], description: 'tells the end' };
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
  await page.keyboard.press('Control+s');
  await page
    .getByRole('dialog')
    .getByText(/changed since it was opened/)
    .waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Compare' }).click();
  const dialog = page.getByRole('dialog', { name: 'Two versions of one file' });
  await dialog.getByText('1 place was changed by both').waitFor();
  await dialog.getByText('Reviewer').waitFor();
  await dialog.getByRole('button', { name: 'Take theirs' }).click();
  await dialog.getByRole('button', { name: 'Merge both' }).click();
  await said(page, /Both versions are merged/);
  await page.getByRole('button', { name: /^Reviewer, Socket-5/ }).waitFor();
  await page.getByRole('button', { name: /^Reviewer, Socket-5/ }).click();
  await form(page).locator('[data-field="label"] input').last().fill('Reviewer of all');
  await page.keyboard.press('Control+s');
  await page.getByRole('dialog').getByText('Reviewer of all').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((written('Clash').sockets as Record<string, JsonObject>)['Socket-7']).toMatchObject({
    description: 'tells the end',
  });
  expect((written('Clash').sockets as Record<string, JsonObject>)['Socket-5']).toMatchObject({
    label: 'Reviewer of all',
  });
});

inBrowser('names of a file are text, whatever is in them', async () => {
  const page = await editor('/loadouts/Example?beside=json');
  const area = page.locator('.text-area textarea');
  await area.waitFor();
  const text = await area.inputValue();
  await area.fill(text.replaceAll('"Narrate"', JSON.stringify('<img src=x onerror=alert(1)>\u202e')));
  await page
    .getByRole('button', { name: /<img src=x/ })
    .first()
    .waitFor();
  expect(await page.locator('.canvas img').count()).toBe(0);
});

inBrowser('the form of a loadout begins with what people write; the rest is folded under More', async () => {
  const page = await editor('/loadouts/Example');
  await form(page).getByLabel('Description').first().waitFor();
  const seldom = ['Id', 'Source', 'Lock state', 'Origin default id'];
  for (const label of seldom)
    expect(await form(page).getByLabel(label, { exact: true }).isVisible(), label).toBe(false);
  await form(page).getByText('More', { exact: true }).click();
  for (const label of seldom) await form(page).getByLabel(label, { exact: true }).waitFor();
});

inBrowser('a viewer reads a loadout and changes nothing', async () => {
  const page = await opened(at.link('/loadouts/Example', at.tokenOf('viewer', 'vera')), { mayLog: REFUSALS });
  await node(page, 'Socket-4').click();
  await page.getByRole('heading', { level: 2, name: 'Build' }).waitFor();
  expect(await page.getByRole('button', { name: 'Save…' }).count()).toBe(0);
  await way(page, 'edge:Socket-1:0').waitFor();
  await page.keyboard.press('Backspace');
  await page.keyboard.press('a');
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('button', { name: 'Build, Socket-4: Loop consumer, claude' }).waitFor();
});
