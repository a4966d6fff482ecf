// Turns an agent's request into a sealed request: the exact commands, and everything that must be the same when they run. The
// stored request holds no secret. The seals cover the original words.
import { hash, randomBytes } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { only, USUAL, userVariables } from '../agents/environment.ts';
import {
  type ApprovalPolicy,
  NOT_SAID,
  namesCommand,
  type Presented,
  type SealedCommand,
  type SealedRequest,
} from '../kernel/approval/request.ts';
import type { Variables } from '../kernel/credential.ts';
import { canonicalJson, isString, isText, type Json, type JsonObject } from '../kernel/json.ts';
import { findSecrets, scrub } from '../kernel/secrets.ts';
import { type Denied, deny } from '../kernel/verdict.ts';
import { type ProjectArea, projectAreaAt } from '../shell/dangerous.ts';
import { argvOf, shellLine } from '../shell/programs.ts';
import {
  boundNames,
  digestAt,
  digestsFor,
  marksOf,
  placesFor,
  plainVariables,
  programsFor,
  TOO_LARGE,
  withInterpreters,
} from './bound-parts.ts';
import { filesNamedBy } from './named-by.ts';
import { type Classified, classifyArgv, readPolicy, versionOf } from './risk.ts';
import { logIdentity, openSealKey, type SealKey } from './seal.ts';

const COMMANDS_MAX = 100;
const WORDS_CHARS_MAX = 131_072;
const TEXT_CHARS_MAX = 4_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const RISKS = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'];

export type SealContext = {
  readonly requester: string;
  /** The folder in which the commands run. */
  readonly cwd: string;
  readonly env: Variables;
  /** The variables that the requester's materia gets by name. */
  readonly handed: readonly string[];
  readonly policy: ApprovalPolicy;
  readonly key: SealKey;
  readonly now: number;
  readonly area: ProjectArea | null;
  /** Tells this log from its copies. */
  readonly log: string;
  /** `P-` and 32 hexadecimal digits. Random by default. */
  readonly id?: string;
};

/**
 * Seals an `approval_request`: `exact_content` or the list `command_set`. `x_files` and `x_cwd` add what the words do not show.
 * Without commands, it requests permission for the words in `operation`.
 */
export function sealRequest(request: JsonObject, context: SealContext): SealedRequest {
  const { policy, env, key } = context;
  const cwd = realFolder(resolve(context.cwd, isPath(request.x_cwd) ? request.x_cwd : '.'));
  const names = boundNames([...context.handed, ...policy.env]);
  const plainEnv = plainVariables(env);
  const target: SealTarget = { ...context, cwd, envMarks: marksOf(names, env, key), path: env.PATH ?? '' };
  const requested = commandsIn(request, target);
  const argvs = 'refusal' in requested ? [] : requested.argvs;
  const inspected = argvs.map((argv) => inspect(argv, target, strings(request.x_files)));
  const version = versionOf(policy);
  const id = context.id ?? `P-${randomBytes(16).toString('hex')}`;
  const expiresAt = context.now + policy.pendingHours * HOUR_MS;
  const bound = {
    id,
    cwd,
    envMarks: target.envMarks,
    plainEnv,
    path: target.path,
    policy: version,
    requester: context.requester,
    expiresAt,
    log: key.mark('log', context.log),
  };
  const commands = inspected.map((one) => sealedCommand(one, bound, key));
  const operation =
    cleanText(request.operation) || (inspected[0] ? `run ${inspected[0].classified.tier} command` : NOT_SAID);
  const fingerprint = key.seal(
    'fingerprint',
    canonicalJson({
      commands: inspected.map(({ argv, programs, places, files }) => ({ argv, programs, places, files })),
      cwd,
      env: target.envMarks,
      policy: version,
      requester: context.requester,
      operation: commands.length === 0 ? operation : null,
    } as unknown as Json),
  );
  return {
    ...bound,
    commands,
    env: names.filter((name) => target.envMarks[name] !== null),
    files: Object.assign({}, ...inspected.map(({ files }) => present(files))) as Readonly<Record<string, string>>,
    operation,
    scope: cleanText(request.scope) || (inspected[0]?.argv[0] ?? NOT_SAID),
    riskLevel: riskOf(request.risk_level, inspected),
    rationale:
      cleanText(request.rationale) || inspected.map(({ classified }) => classified.because).join('; ') || NOT_SAID,
    rollback: cleanText(request.rollback) || null,
    verification: cleanText(request.verification) || null,
    grantMs: policy.grantMinutes * MINUTE_MS,
    fingerprint,
    keyId: key.id,
    relays: isText(request.approval_id) ? request.approval_id.trim() : null,
    refusal: 'refusal' in requested ? requested.refusal : refusalOf(inspected),
    ...leftOutIn(request),
  };
}

type SealTarget = SealContext & { readonly envMarks: Readonly<Record<string, string | null>>; readonly path: string };

type Inspected = Pick<SealedCommand, 'programs' | 'places' | 'files'> & {
  readonly argv: readonly string[];
  /** False if it names more than can be bound. */
  readonly isWhole: boolean;
  readonly classified: Classified;
};

/** What the seals of all commands of a request share. */
type Bound = Pick<
  SealedRequest,
  'id' | 'cwd' | 'envMarks' | 'plainEnv' | 'path' | 'policy' | 'requester' | 'expiresAt' | 'log'
>;
export type Parts = Pick<Presented, 'programs' | 'places'> & {
  readonly argv: readonly string[];
  readonly files: Readonly<Record<string, string | null>>;
};

/** The seal of one command and everything it is bound to. */
export function sealOfCommand({ argv, programs, places, files }: Parts, bound: Bound, key: SealKey): string {
  const { id, cwd, envMarks, plainEnv = null, path, policy, requester, expiresAt, log } = bound;
  const environment = { envMarks, plainEnv, path };
  const whole = { v: 3, id, argv, cwd, ...environment, programs, places, files, policy, requester, expiresAt, log };
  return key.seal('command', canonicalJson(whole as unknown as Json));
}

export function marksOfArgv(argv: readonly string[], key: SealKey): readonly string[] {
  return argv.map((word, index) => key.mark(`argument:${index}`, word));
}

/** The arguments in clear, or null if one holds a secret. */
export function clearArgv(argv: readonly string[]): readonly string[] | null {
  return scrub(shellLine(argv)).found.length + scrub(argv.join(' ')).found.length === 0 ? argv : null;
}

type RequestedCommands = { readonly argvs: readonly (readonly string[])[] } | { readonly refusal: Denied };

function commandsIn(request: JsonObject, target: SealTarget): RequestedCommands {
  const { exact_content: line, command_set: set, approval_id: relays, x_cwd: folder } = request;
  if (isText(folder) && !(isPath(folder) && isFolder(target.cwd))) return blocked('x_cwd names no existing folder');
  const strange = strings(request.x_env).find((name) => !Object.hasOwn(target.envMarks, name));
  if (strange !== undefined) {
    const way = 'name it in `env` of the materia or in approvals.env of the configuration';
    return blocked(`x_env names ${scrub(strange).text.slice(0, 64)}, which approved commands do not get; ${way}`);
  }
  const unread = unreadIn(request);
  if (unread) return unread;
  const listed = Array.isArray(set) ? set.flatMap((one) => (namesCommand(one) ? [one.command] : [])) : [];
  // Only commands that change state need an approval. A list without such a command is requested whole, as a single one would be.
  const changing = listed.filter((one) => classifyArgv(argvOf(one), target.policy, target.area).tier === 'T3');
  if (changing.length > 0 && isText(line) && !isSummary(line, listed)) {
    const message =
      'exact_content and command_set name different commands; omit exact_content, or repeat the list in it exactly';
    return invalid('exact_content', message);
  }
  const lines = changing.length > 0 ? changing : isText(line) ? [line] : listed;
  if (lines.length > COMMANDS_MAX)
    return blocked(`more than ${COMMANDS_MAX} commands are requested; request fewer at a time`);
  if (lines.some((one) => one.length > WORDS_CHARS_MAX))
    return blocked('a command is too long; put it into a file and name that file');
  if (lines.some((one) => /[\0]/.test(one) || !one.isWellFormed()))
    return blocked('a command holds invalid characters');
  if (lines.some((one) => /\[secret:[a-z-]+\]/.test(one))) {
    // The secret was removed earlier. A hook or a tool call may have sealed the full command; its id can still be named.
    if (isText(relays)) return { argvs: [] };
    return blocked(
      'the command holds a secret, which is not stored; use a variable instead, or ask with the tool request_approval',
    );
  }
  return { argvs: lines.map(argvOf) };
}

/** Refuses commands in an unknown form. Otherwise they would become a permission in words. */
function unreadIn({ exact_content: line, command_set: set }: JsonObject): RequestedCommands | null {
  if (line !== undefined && line !== null && !isString(line))
    return invalid('exact_content', 'exact_content is one text with one exact command; put several into command_set');
  const isGiven = set !== undefined && set !== null && set !== '' && !(Array.isArray(set) && set.length === 0);
  const isList = Array.isArray(set);
  const isRead = isList && set.some(namesCommand);
  if (!isGiven || isRead || (isList && isText(line))) return null;
  return invalid(
    'command_set',
    'command_set is a list of objects with command and rationale; this one names no command',
  );
}

/** The entries of the list that are no command. */
function leftOutIn({ command_set: set }: JsonObject): Pick<SealedRequest, 'leftOut'> {
  if (!Array.isArray(set)) return {};
  const leftOut = set.flatMap((one, index) => (namesCommand(one) ? [] : [index]));
  return leftOut.length === 0 ? {} : { leftOut: leftOut.slice(0, COMMANDS_MAX) };
}

function invalid(key: string, message: string): RequestedCommands {
  return { refusal: deny('CONTRACT_VIOLATION', message, { issues: [{ path: `approval_request.${key}`, message }] }) };
}

/** Whether a line is one command of the list, or all of them in order. */
function isSummary(line: string, listed: readonly string[]): boolean {
  const bare = (text: string) => text.trim().replace(/\s+/g, ' ');
  const joined = bare(line.replaceAll('\n', ' ; '));
  return (
    listed.some((one) => bare(one) === bare(line)) ||
    [' && ', '; ', ' ; '].some((between) => listed.map(bare).join(between) === joined)
  );
}

function blocked(reason: string): RequestedCommands {
  return { refusal: deny('COMMAND_BLOCKED', reason) };
}

function refusalOf(inspected: readonly Inspected[]): Denied | null {
  if (inspected.some(({ isWhole }) => !isWhole)) {
    return deny('COMMAND_BLOCKED', 'it names too many files to bind; name fewer, or a folder');
  }
  const large = inspected.flatMap(({ files, programs }) => [
    ...Object.entries(files).flatMap(([path, digest]) => (digest === TOO_LARGE ? [path] : [])),
    ...Object.values(programs).flatMap((program) => (program?.digest === TOO_LARGE ? [program.path] : [])),
  ]);
  if (large[0] !== undefined) return deny('COMMAND_BLOCKED', `${large[0]} is too large to bind`);
  if (inspected.some(({ argv }) => hidesMore(argv))) {
    return deny(
      'COMMAND_BLOCKED',
      'a part that looks like a secret also holds shell signs; it would be masked, and a person could not see what runs. Use a variable or a file instead',
    );
  }
  const blocked = inspected.find(({ classified }) => classified.blocked !== null);
  if (!blocked) return null;
  const command = shown(blocked.argv);
  return deny('COMMAND_BLOCKED', `${command} can never be approved: ${blocked.classified.blocked}`, { command });
}

function inspect(argv: readonly string[], target: SealTarget, more: readonly string[]): Inspected {
  const { cwd, path, env, policy, area } = target;
  const isClear = clearArgv(argv) !== null;
  // Next to a secret, any word may be secret too. Then only existing files are named.
  const isShown = (name: string) => scrub(name).found.length === 0 && (isClear || digestAt(name) !== 'absent');
  const named = filesNamedBy(argv, cwd, env.HOME, more);
  const inputs = named.inputs.filter(isShown);
  const places = placesFor([...inputs, ...named.outputs.filter(isShown)]);
  const read = new Set(inputs.flatMap((input) => places[input] ?? []));
  const started = named.programs.filter((name) => scrub(name).found.length === 0);
  const programs = withInterpreters(started, [...read], cwd, path);
  const { because, ...judged } = classifyArgv(argv, policy, area);
  return {
    argv,
    isWhole: named.isWhole,
    classified: { ...judged, because: isClear ? because : 'it changes state, and holds a secret' },
    programs: programsFor(programs, cwd, path),
    places,
    files: digestsFor([...read]),
  };
}

function sealedCommand(
  { argv, classified, isWhole: _, ...inspected }: Inspected,
  bound: Bound,
  key: SealKey,
): SealedCommand {
  const clear = clearArgv(argv);
  const display = shown(argv);
  return {
    display,
    digest: hash('sha256', canonicalJson({ command: display, cwd: bound.cwd })),
    seal: sealOfCommand({ argv, ...inspected }, bound, key),
    tier: classified.tier,
    because: classified.because,
    argv: clear,
    marks: marksOfArgv(argv, key),
    ...inspected,
  };
}

/** Whether a masked part could run something. A person would then approve what is not shown. */
function hidesMore(argv: readonly string[]): boolean {
  return [shellLine(argv), argv.join(' ')].some((text) =>
    findSecrets(text).some(({ start, end }) => /[\s$`;|&<>()]/.test(text.slice(start, end))),
  );
}

/** The command as a shell line, without secrets. */
function shown(argv: readonly string[]): string {
  // With or without quotes, a secret may be found in only one of the two forms.
  const joined = argv.join(' ');
  let { text } = scrub(shellLine(argv));
  for (const { kind, start, end } of findSecrets(joined)) {
    text = text.replaceAll(joined.slice(start, end), `[secret:${kind}]`);
  }
  return text;
}

/** The existing files, for people to see. */
function present(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).filter(([, digest]) => digest.startsWith('sha256:')));
}

function riskOf(level: Json | undefined, inspected: readonly Inspected[]): string {
  const given = isString(level) ? level.trim().toUpperCase() : '';
  const isChanging = inspected.some(({ classified }) => classified.tier === 'T3') || inspected.length === 0;
  // A requester may raise the risk, but may not call a change of state harmless.
  if (RISKS.includes(given)) return given === 'LOW' && isChanging ? 'MEDIUM' : given;
  return isChanging ? 'MEDIUM' : 'LOW';
}

function cleanText(value: Json | undefined): string {
  return isText(value) ? scrub(value).text.slice(0, TEXT_CHARS_MAX) : '';
}

function strings(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter(isText).slice(0, COMMANDS_MAX) : [];
}

function isPath(value: Json | undefined): value is string {
  return isText(value) && !value.includes('\0');
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// The request in the report of a turn, sealed when the report is read.

type TurnAsks = {
  readonly request: JsonObject;
  readonly requester: string;
  /** The variables that its materia gets by name. */
  readonly env: readonly string[];
};

/** Null if the policy is invalid or the key cannot be used. */
export function sealForTurn(
  asks: TurnAsks,
  { dir, stateDir }: { readonly dir: string; readonly stateDir: string },
  cwd: string,
  env: NodeJS.ProcessEnv,
): SealedRequest | null {
  const policy = readPolicy({ dir, configFile: join(dir, '.baton', 'config.json'), env });
  const key = openSealKey(env);
  if ('allow' in policy || 'allow' in key) return null;
  const agents = only([...USUAL, ...asks.env], userVariables(env));
  const area = projectAreaAt(cwd, cwd, env.HOME);
  return sealRequest(asks.request, {
    requester: asks.requester,
    cwd,
    env: agents,
    handed: asks.env,
    policy,
    key,
    now: Date.now(),
    area,
    log: logIdentity(stateDir),
  });
}
