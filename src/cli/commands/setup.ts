// `baton init` and `baton install`: what was written or would change is shown, and a person is asked.
import { existsSync } from 'node:fs';
import type { DetectedAgent } from '../../agents/detect.ts';
import { BUNDLED_LOADOUTS, TEMPLATES } from '../../app/operations/project.ts';
import type { Given } from '../../app/perform.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import type { Verdict } from '../../kernel/verdict.ts';
import {
  again,
  type Call,
  EXIT_CODE,
  flag,
  note,
  out,
  outJson,
  Refused,
  UsageError,
  workspaceHere,
} from '../command.ts';
import type { Giving } from '../operation-command.ts';
import { choose, confirm } from '../read-input.ts';
import { rowsIn } from '../show/form.ts';
import { allowed, ended, showOperation } from '../show-operation.ts';

const FIRST_REQUEST = 'Say what this project is in one sentence of its README';
const FIRST_REQUESTS: Readonly<Record<string, string>> = {
  bugfix: 'The failing tests of this project',
  review: 'Review the entry point of this project',
};

export async function initCommand(call: Call, giving: Giving): Promise<number> {
  const given = await giving();
  const { sorts, agents, ...done } = await allowed(call, 'init', { ...given, ...(await templateFor(call, given)) });
  if (call.json) {
    outJson(done);
    return EXIT_CODE.ok;
  }
  const request = FIRST_REQUESTS[String(done.template)] ?? FIRST_REQUEST;
  const found = rowsIn(agents) as unknown as readonly DetectedAgent[];
  const agent = found.find(({ name }) => name === done.runner) ?? null;
  for (const file of [done.written].flat()) out(`wrote ${file}`);
  const hasGuide = TEMPLATES.some((name) => name === done.template);
  out(
    `The team ${done.template}: ${again(call)} graph draws it${hasGuide ? ', .baton/README.md explains it' : ''}. Its prompts are yours to edit.`,
  );
  for (const line of projectLines([sorts].flat().map(String), done)) out(line);
  for (const line of nextSteps(agent, found, request, again(call))) out(line);
  return done.signedIn === true && (await confirm('Run your first cast now?'))
    ? firstCast(call, request)
    : EXIT_CODE.ok;
}

const TEAMS: Readonly<Record<string, string>> = {
  software: 'plan a request, build and review each part, sum up',
  bugfix: 'collect bugs, fix and review each one, sum up',
  feature: 'plan a feature, build its parts side by side, join them',
  review: 'review files or a folder, and change nothing',
  'Full-Auto': 'plan, build, check and tidy each item, then tell what was done',
  'Plan-Together': 'plan in a conversation with you, then build',
  'Architect-First': 'design first, then plan and build',
  'Review-Only': 'review areas, confirm the findings, report',
  'Parallel-Build': 'build streams of items side by side, then review the whole',
};

/** Asks for the team where a person is there. What would be refused anyway asks nothing. */
async function templateFor(call: Call, given: Given): Promise<Given> {
  const isUseless = call.json || given.template !== undefined;
  if (isUseless || (given.force !== true && existsSync(workspaceHere(call).configFile))) return {};
  return { template: await choose('Which team shall this folder get?', [...TEMPLATES, ...BUNDLED_LOADOUTS], TEAMS) };
}

/** As if it had been typed. It costs money, so a person has to agree first. */
async function firstCast(call: Call, request: string): Promise<number> {
  const command = call.commands.find(({ name }) => name === 'cast') ?? call.command;
  const cast = await command.load();
  const { directory } = call.values;
  return cast({ ...call, command, words: [request], values: directory === undefined ? {} : { directory } });
}

function nextSteps(
  agent: DetectedAgent | null,
  found: readonly DetectedAgent[],
  request: string,
  baton: string,
): string[] {
  const look = `Next: \`${baton} check\` looks for mistakes, \`${baton} cast --dry-run "…"\` shows the briefs.`;
  const cast = `${baton} cast "${request}"`;
  if (agent === null) {
    const ways = found.map(({ name, hint }) => `  ${name}: ${hint}`);
    return [
      'No agent that works is on this machine. Install one of these, then cast:',
      ...ways,
      look,
      `Your first cast: ${cast}`,
    ];
  }
  const { name, version, path, fault, signedInBy, hint } = agent;
  const using =
    `The agents run on ${name} ${version ?? ''}; \`defaults.runner\` in .baton/config.json names another.`.replace(
      ' ;',
      ';',
    );
  const lack = path === null ? 'is not installed' : fault !== null ? 'does not start' : 'has no sign-in yet';
  const ready = hint === null && signedInBy !== null ? [] : [`${name} ${lack}: ${hint}.`];
  return [using, ...ready, look, `Your first cast: ${cast}`];
}

function projectLines(sorts: readonly string[], { checkers, worktree }: JsonObject): readonly string[] {
  const named = (isObject(checkers) ? Object.entries(checkers) : []).map(([name, checker]) => {
    const command = isObject(checker) ? [checker.command].flat() : [];
    return `${name} (${command.join(' ')})`;
  });
  const ready = isObject(worktree) ? Object.entries(worktree) : [];
  const steps = ready.map(([field, value]) => `${field} ${JSON.stringify(value)}`).join(', ');
  return [
    ...(named.length > 0
      ? [`Checks of this ${sorts.join(' and ')} project: ${named.join(', ')}; \`checkers\` changes them.`]
      : []),
    ...(isObject(worktree) ? [`Worktrees of casts are made ready by ${steps}; \`worktree\` changes that.`] : []),
  ];
}

export async function installCommand(call: Call, giving: Giving): Promise<number> {
  const given = await giving();
  if (flag(call.values, 'verify')) {
    if (given.agent !== 'claude') throw new UsageError('--verify is for claude');
    return showOperation(call, 'hooks.verify', {});
  }
  const planned = await ended(call, 'install', { ...given, yes: false });
  const { diff } = planned.details;
  if (!Array.isArray(diff)) return shown(call, planned);
  for (const line of diff) (call.json ? note : out)(String(line));
  const isAgreed = given.yes === true || (await confirm('Write this?'));
  return shown(call, isAgreed ? await ended(call, 'install', { ...given, yes: true }) : planned);
}

function shown(call: Call, verdict: Verdict): number {
  const { diff: _diff, host, notes, warnings, ...rest } = verdict.details as JsonObject;
  // Refused before there was anything to write.
  if (rest.written === undefined && !verdict.allow) throw new Refused(verdict);
  if (call.json) outJson({ ...rest, warnings });
  for (const warning of [warnings ?? []].flat()) note(`Warning: ${warning}`);
  if (!verdict.allow) {
    note(verdict.reason);
    return EXIT_CODE.usage;
  }
  if (call.json) return EXIT_CODE.ok;
  const isNew = rest.written === true && rest.undo === false;
  out(isNew ? `${verdict.reason} Take it back with: ${again(call)} install ${host} --undo` : verdict.reason);
  if (isNew) for (const line of [notes ?? []].flat()) out(String(line));
  return EXIT_CODE.ok;
}
