// How risky a command is: T0 reads, T1 checks or changes what is local, T2 simulates, T3 changes state. A line is as risky as
// its riskiest part; wrappers, substitutions and inner shells are seen through; what is not known counts as T3.
import { join, resolve } from 'node:path';
import type { ApprovalPolicy } from '../kernel/approval/policy.ts';
import { TIERS, type Tier } from '../kernel/approval/request.ts';
import { type Invocation, SHELLS, type Step, stepsOf, WRAPPERS } from '../shell/programs.ts';
import type { Word } from '../shell/read-line.ts';
import { shellLine } from '../shell/words.ts';
import { placesWritten } from '../shell/written-paths.ts';
import { blockedIn } from './blocked.ts';
import { wordsOf } from './command-words.ts';
import { isHarmlessVariable, riskInArguments } from './risky-arguments.ts';
import { ROWS, type Rows, rowsOf, SIMULATES } from './tier-table.ts';

export type Classified = {
  readonly tier: Tier;
  /** The part that decided, and why. */
  readonly because: string;
  /** Why nobody may approve it; null where somebody may. */
  readonly blocked: string | null;
};

/** Where the command runs, so that it can be seen where it writes. */
export type Ground = {
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether a path is the agent's own to write. */
  isOwn(path: string): boolean;
};

type Judged = { readonly tier: Tier; readonly because: string };

export function classifyArgv(argv: readonly string[], policy: ApprovalPolicy, ground: Ground | null): Classified {
  return classify(shellLine(argv), policy, ground);
}

export function classify(line: string, policy: ApprovalPolicy, ground: Ground | null): Classified {
  const read = stepsOf(line);
  if (!read.ok) return { tier: 'T3', because: `it cannot be looked through: ${read.why}`, blocked: null };
  const { steps, doubt } = read;
  const people = rowsOf(Object.entries(policy.tiers));
  const judged = steps.flatMap((step) => judgeStep(step, people, ground));
  const astray = judged.some(({ tier }) => tier === 'T1' || tier === 'T2') ? judgeFolders(steps, ground) : null;
  const written = judgeWrites(steps, policy, ground);
  const doubted: Judged[] = doubt === null ? [] : [{ tier: 'T3', because: `it cannot be looked through: ${doubt}` }];
  const all = [...doubted, ...judged, ...(written ? [written] : []), ...(astray ? [astray] : [])];
  const worst = all.reduce<Judged>((a, b) => (rank(b.tier) > rank(a.tier) ? b : a), {
    tier: all.length === 0 ? 'T3' : 'T0',
    because: all.length === 0 ? 'it runs nothing that can be seen' : 'it only reads',
  });
  return { ...worst, blocked: blockedIn(line, steps, policy) };
}

function rank(tier: Tier): number {
  return TIERS.indexOf(tier);
}

const CONNECTS: Judged = { tier: 'T3', because: 'it opens a connection' };

function judgeStep({ runs, assigns, reads }: Step, people: Rows, ground: Ground | null): readonly Judged[] {
  const risky = assigns.find((name) => !isHarmlessVariable(name));
  const set: Judged[] =
    risky === undefined
      ? [{ tier: 'T0', because: 'it only sets variables' }]
      : [{ tier: 'T3', because: `it sets ${risky}` }];
  return [
    ...(assigns.length > 0 ? set : []),
    ...(reads.some(({ text }) => /^\/dev\/(?:tcp|udp)\//.test(text)) ? [CONNECTS] : []),
    ...runs.map((run, index) => judgeRun(run, runs.length > index + 1, people, ground)),
  ];
}

function judgeRun(run: Invocation, hasInner: boolean, people: Rows, ground: Ground | null): Judged {
  const { program, named, isPlain, args } = run;
  if (!isPlain) return { tier: 'T3', because: 'only the shell knows which program it runs' };
  const own = lookUp(run, people);
  if (own) return { tier: own.tier, because: `the configuration says ${own.tier} for ${own.words}` };
  if (SHELLS.includes(program)) return judgeShell(run);
  if (program === 'eval') return args.every((word) => word.isPlain) ? passed(program) : unseen(program);
  if (Object.hasOwn(WRAPPERS, program) && hasInner) return judgeWrapper(run);
  // A path may lead to anything; only what the system's own folders hold is what its name says.
  const isLocal = LOCAL_TOOLS.test(named) && lookUp(run, ROWS)?.tier === 'T1';
  if (named.includes('/') && !SYSTEM_TOOLS.test(named) && !ROWS.has(named) && !isLocal) {
    return { tier: 'T3', because: `${named} is a file of its own` };
  }
  const risk = riskInArguments(run);
  if (isWriter(run) && risk === null) return { tier: 'T0', because: `${program} only writes` };
  const found = lookUp(run, ROWS);
  if (found && rank(found.tier) < rank('T3')) {
    const foreign = found.tier === 'T0' || program === 'git' ? null : foreignIn(args, ground);
    if (foreign !== null) return { tier: 'T3', because: `${program} may write ${foreign}` };
    if (program === 'git' && found.tier !== 'T0' && args[0]?.text === '-C') {
      return { tier: 'T3', because: 'it changes another repository' };
    }
    return risk === null
      ? { tier: found.tier, because: `${found.words} is ${found.tier}` }
      : { tier: 'T3', because: risk };
  }
  if (risk === null && isSimulated(run) && foreignIn(args, ground) === null)
    return { tier: 'T2', because: `${program} only says what it would do` };
  return {
    tier: 'T3',
    because: `${shellLine([program, ...args.slice(0, 2).map(({ text }) => text)])} is not known to be harmless`,
  };
}

/** What the system's own folders hold is what its name says; what a project brings along runs the project's code. */
const SYSTEM_TOOLS = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/;
const LOCAL_TOOLS = /^(?:\.\/)?(?:node_modules\/\.bin|\.?venv\/bin)\/[\w.-]+$/;

/** A path among the arguments of what writes that is not the agent's own. */
function foreignIn(args: readonly Word[], ground: Ground | null): string | null {
  for (const { text, isHome } of args) {
    const path = text.replace(/^-[^=/]*=?/, '');
    const isElsewhere = isHome || /^~?\/|(?:^|\/)\.\.(?:\/|$)|^~/.test(path);
    // What governs the work lies within the folder and is no agent's own.
    if (!isElsewhere && !/(?:^|\/)\.(?:git|baton|claude|codex|pi)(?:\/|$)/i.test(path)) continue;
    const place = isHome || path.startsWith('~') || !ground ? null : resolve(ground.cwd, path);
    if (place === null || !ground || !(ground.isOwn(place) || ground.isOwn(join(place, 'x')))) return text;
  }
  return null;
}

/** What runs the code of a project, or writes, does so in the folder it stands in. */
function judgeFolders(steps: readonly Step[], ground: Ground | null): Judged | null {
  const { folders } = placesWritten(steps, ground?.cwd ?? '/', ground?.home);
  const foreign = folders?.slice(1).find((folder) => !ground?.isOwn(folder) && !ground?.isOwn(join(folder, 'x')));
  if (folders === null) return { tier: 'T3', because: 'in which folder it works cannot be seen' };
  return foreign === undefined ? null : { tier: 'T3', because: `it works in ${foreign}` };
}

function passed(program: string): Judged {
  return { tier: 'T0', because: `${program} only passes on` };
}

function unseen(program: string): Judged {
  return { tier: 'T3', because: `what ${program} runs cannot be seen` };
}

/** A shell that is given a line that can be seen; the line is judged by itself. A script, or its input, cannot be seen. */
function judgeShell({ program, args }: Invocation): Judged {
  const flag = args.findIndex(({ text, isPlain }) => isPlain && /^-[elux]*c$/.test(text));
  const before = args.slice(0, Math.max(flag, 0));
  const isClear = flag !== -1 && before.every(({ text }) => /^-[elux]+$/.test(text)) && isLine(args[flag + 1]);
  if (isClear) return passed(program);
  if (
    args[0]?.text === '-n' &&
    args.length > 1 &&
    args.every((word) => word.isPlain && !word.isOpen && !/^-[^n]|^-n.|^\+/.test(word.text))
  ) {
    return { tier: 'T1', because: `${program} -n only checks` };
  }
  return unseen(program);
}

/** What a shell would take for one more option is no line. */
function isLine(word: Word | undefined): boolean {
  return word?.isPlain === true && !/^[-+]/.test(word.text);
}

/** They hand what stands behind them to a shell, as a line. */
const LINE_RUNNERS = ['parallel', 'watch', 'flock'];

function judgeWrapper({ program, args }: Invocation): Judged {
  const options = args.map(({ text }) => text).filter((text) => text.startsWith('-'));
  const splits = program === 'env' && options.some((text) => /^-[a-zA-Z]*S|^--s/.test(text));
  const writes =
    (program === 'time' && options.some((text) => /^-o|^--o/.test(text))) || LINE_RUNNERS.includes(program);
  return splits || writes ? unseen(program) : passed(program);
}

type Found = { readonly tier: Tier; readonly words: string };

/** The longest row that fits the words of a command. Options in between count as words, unless they are known to be harmless. */
function lookUp({ program, named, args }: Invocation, rows: Rows): Found | null {
  const own = rows.get(named) ?? [];
  const candidates = named === program ? own : [...own, ...(rows.get(program) ?? [])];
  if (candidates.length === 0) return null;
  const words = wordsOf(program, args);
  let best: (Found & { readonly weight: number }) | null = null;
  for (const row of candidates) {
    const weight = weightOf(row.words, words);
    if (weight === null || (best !== null && weight < best.weight)) continue;
    // Of two that say as much the riskier one counts.
    if (best !== null && weight === best.weight && rank(row.tier) <= rank(best.tier)) continue;
    best = { tier: row.tier, words: [program, ...row.words].join(' '), weight };
  }
  return best;
}

/** How much of a command a row says, words before stars; null where it does not fit. */
function weightOf(parts: readonly string[], words: readonly (string | null)[]): number | null {
  let weight = 1;
  for (const [index, part] of parts.entries()) {
    if (part === '$') return words.length === index ? weight + 1 : null;
    const word = words[index];
    if (word === undefined || word === null) return null;
    if (part !== word && !isFor(part, word)) return null;
    weight += part === word ? 10 : 9;
  }
  return weight;
}

/** A star stands for a noun: what says that something is done is no noun. */
const DOES =
  /^(?:delete|create|edit|update|remove|add|set|unset|start|stop|reset|restart|deploy|import|export|ssh|scp|apply|move|restore|enable|disable|patch|replace|resize|rollback|submit|run|call|execute|invoke|publish|promote|failover|purge|destroy|cancel|attach|detach|upload|download|copy|rotate|revoke|grant|bind|unbind|clone|connect|rm|cp|mv|rsync|sync|insert|write|put|send|sign|suspend|resume|upgrade|drain|abandon|recreate|simulate|undelete|migrate|switch|switchover|approve|reject|login|logout|activate|init|install|uninstall|lock|unlock|mount|terminate|reboot|swap|tag|untag|link|unlink|register|unregister|deregister|deallocate|redeploy|generalize|capture|build|get-credentials|reserve|release|expand|wait|tail|tunnel|proxy)(?:-.*)?$/;

function isFor(part: string, word: string): boolean {
  if (!part.endsWith('*') || word.startsWith('-')) return false;
  return part === '*' ? !DOES.test(word) : word.startsWith(part.slice(0, -1));
}

/** The option must stand where nothing before it could take it for its value, once, and before the end of the options. */
function isSimulated({ program, args }: Invocation): boolean {
  const rows = SIMULATES.get(program) ?? [];
  if (rows.length === 0) return false;
  const called = wordsOf(program, args);
  const { options = [] } = rows.find((row) => weightOf(row.words, called) !== null) ?? {};
  const end = args.findIndex(({ text }) => text === '--');
  const words = end === -1 ? args : args.slice(0, end);
  if (words.some(({ isPlain }) => !isPlain)) return false;
  const at = words.findIndex(({ text }) => options.includes(text));
  const before = words[at - 1]?.text ?? '';
  if (at === -1 || (before.startsWith('-') && !before.includes('='))) return false;
  const stem = (words[at]?.text ?? '').split('=')[0] ?? '';
  // A value behind it, or anything that takes something back, may take this back.
  if (args.some(({ text }) => /^--no-|^(?:false|0|none|no)$/.test(text))) return false;
  return words.filter(({ text }) => isShortFor(text, stem)).length === 1;
}

/** Options of writers that change nothing about where they write. */
const WRITER_OPTIONS: Readonly<Record<string, RegExp>> = {
  tee: /^(?:-a|--append)$/,
  touch: /^-[acm]{1,3}$/,
  mkdir: /^(?:-[pv]{1,2}|--parents|--verbose)$/,
  cp: /^(?:-[abfinprRuv]{1,8}|--recursive|--force|--no-clobber|--verbose|--update)$/,
  mv: /^(?:-[finuv]{1,5}|--force|--no-clobber|--verbose)$/,
};

function isWriter({ program, args }: Invocation): boolean {
  const known = Object.hasOwn(WRITER_OPTIONS, program) ? WRITER_OPTIONS[program] : undefined;
  return known !== undefined && args.every(({ text }) => !text.startsWith('-') || text === '--' || known.test(text));
}

/** Whether a word is an option or the beginning of one, which programs take for the whole. */
function isShortFor(word: string, option: string): boolean {
  const [stem = ''] = word.split('=');
  return stem.startsWith(option) || (stem.length >= 3 && option.startsWith(stem));
}

/** Writes count as the policy says where all of them are seen and the agent's own, and as T3 anywhere else. */
function judgeWrites(steps: readonly Step[], policy: ApprovalPolicy, ground: Ground | null): Judged | null {
  const { paths, possible, isClear, count } = placesWritten(steps, ground?.cwd ?? '/', ground?.home);
  const real = [...new Set([...paths, ...possible])].filter(
    (path) => !/^\/dev\/(?:null|stdout|stderr|tty)$/.test(path),
  );
  if (count === 0 || (isClear && real.length === 0)) return null;
  if (!isClear || !ground) return { tier: 'T3', because: 'where it writes cannot be seen' };
  const foreign = real.find((path) => !ground.isOwn(path));
  if (foreign !== undefined) return { tier: 'T3', because: `it writes ${foreign}` };
  return { tier: policy.writes, because: `it writes ${real[0]}` };
}
