// Observes a turn from outside, before its start and after its answer: the seal, the changed files, the checkers, the diff of
// an item and named evidence. Observations from before a turn are on disk, so that they survive a crash.

import { hash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { sealForTurn } from '../approvals/seal-request.ts';
import { Uninspectable, type Witness } from '../engine/ports.ts';
import { DIFF_BYTES_MAX } from '../kernel/cast/notes.ts';
import type { Watch, WorkWatch } from '../kernel/cast/packet.ts';
import type { ItemDiff } from '../kernel/cast/state.ts';
import type { MainChanges } from '../kernel/input.ts';
import type { Artifact, Artifacts } from '../kernel/knowledge/entries.ts';
import { configuredBy } from '../kernel/ledger/scope.ts';
import { firstBytes } from '../kernel/text.ts';
import { changesBetween, type FileChange, type FolderSnapshot, snapshotOf } from './changes.ts';
import { ChangesError } from './changes-mark.ts';
import { aboutTurn, checkProject, type Passes, runCheckers, withoutSecrets } from './checkers.ts';
import { tryGit } from './git.ts';
import { beginWatch, type Checkout, endWatch, firstLookAt, sealOf } from './main-checkout.ts';
import { withoutOutputs } from './own-output.ts';
import { attesterOf } from './registry-lock.ts';
import { type BeforeState, dropUnneeded, keepContents, neededIn, noteBefore, readBefore } from './restore-files.ts';
import { mendRecords, readRecord } from './worktree/record.ts';
import { changedOutside, leaveUnchanged, uncommittableIn, worktreeOfOne } from './worktree/restore-path.ts';

/** `say` receives, once per folder, why changes there are not recorded. */
export function witnessOf(
  { dir, stateDir }: { readonly dir: string; readonly stateDir: string },
  say: (line: string) => void = () => undefined,
  passes: Passes | null = null,
): Witness {
  const folder = join(stateDir, 'turns');
  const below = relative(dir, stateDir);
  const skip = below.startsWith('..') ? [] : [below];
  /** The last snapshot of each folder. Unchanged files are not read again. */
  const known = new Map<string, FolderSnapshot>();
  // The workspace's own `.baton` governs the agents. They may not change its copy in a worktree either.
  // So may they not change what was noted before the turn. The notes lie where an agent can write; the seal is in the log.
  const sealFor = (watch: Watch, cwd: string) => {
    const governing = cwd === dir ? sealOf(dir) : `${sealOf(dir)}.${sealOf(cwd)}`;
    return `${governing}${notedFor(folder, watch)}`;
  };
  /** The notes about the checkout change with each attempt. */
  const mainNotes = new Map<string, string | null>();
  const attester = attesterOf(dir);
  /** By turn, how often others had changed the worktree records of its cast before its attempt. */
  const breaches = new Map<string, number>();
  const isBreached = (watch: Watch) => {
    const main = mainFileOf(folder, watch);
    const isChanged = mainNotes.has(main) && mainNotes.get(main) !== textOf(main);
    return mendRecords(stateDir, watch.cast) !== (breaches.get(fileOf(folder, watch)) ?? 0) || isChanged;
  };
  /** Folders that cannot be inspected. Turns without a lock scope do not try them again. */
  const uninspectable = new Set<string>();
  /** Casts with a printed warning that not all contents are kept. */
  const unkept = new Set<string>();
  async function look<T>(watch: Watch, cwd: string, work: () => Promise<T>): Promise<T | null> {
    if (!watch.compares && uninspectable.has(cwd)) return null;
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ChangesError)) throw error;
      if (watch.compares) throw new Uninspectable(error.message);
      uninspectable.add(cwd);
      say(`  ! what changes is not noted: ${error.message}`);
      return null;
    }
  }
  /** Null if the turn has no worktree. */
  const checkoutOf = (watch: Watch, cwd: string): Checkout | null => {
    const record = cwd !== dir && watch.mainCheckout ? readRecord(stateDir, watch.cast) : null;
    return record && { top: record.top, dir };
  };
  /** A checkout that git cannot read does not stop a turn. It is reported once. */
  async function lookAtMain<T>(checkout: Checkout | null, work: (checkout: Checkout) => Promise<T>): Promise<T | null> {
    if (checkout === null) return null;
    try {
      return await work(checkout);
    } catch (error) {
      if (!(error instanceof ChangesError)) throw error;
      if (!uninspectable.has(checkout.top)) say(`  ! changes in ${checkout.top} are not noticed: ${error.message}`);
      uninspectable.add(checkout.top);
      return null;
    }
  }
  async function mainChanges(watch: Watch, cwd: string): Promise<MainChanges | null> {
    const checkout = checkoutOf(watch, cwd);
    const changes = await lookAtMain(checkout, (each) => endWatch(mainFileOf(folder, watch), each, stateDir));
    if (changes === null) return null;
    if (watch.mainCheckout !== 'warn') return { dir, changes };
    const [first, ...more] = Object.keys(changes);
    const who = `in ${dir} while ${watch.socket} ran; who changed it is not known`;
    if (first !== undefined) say(`  ! ${first}${more.length > 0 ? ` (and ${more.length} more)` : ''} changed ${who}`);
    return null;
  }
  async function diffOfWork(
    watch: Watch,
    work: WorkWatch,
    cwd: string,
    since: FolderSnapshot,
    changed: readonly string[],
  ): Promise<ItemDiff | null> {
    const base = work.base ?? since.git?.head ?? null;
    if (base === null) return null;
    const paths = [...new Set([...work.files, ...changed])];
    return diffOfItem({ cast: watch.cast, cwd, stateDir, inPlace: cwd === dir, base, paths });
  }
  const aloneIn = ({ cast, place, beside }: Watch) =>
    worktreeOfOne(stateDir, { cast, place, isBeside: beside !== null });
  async function outside(watch: Watch): Promise<Readonly<Record<string, string>>> {
    const record = watch.mainCheckout === null ? null : aloneIn(watch);
    const changes = record ? await changedOutside(record, watch.turn) : {};
    if (watch.mainCheckout !== 'warn') return changes;
    const [first] = Object.keys(changes);
    if (first !== undefined)
      say(`  ! ${watch.socket} changed ${first}, which lies outside the folder of the workspace`);
    return {};
  }
  /** In the folder itself, only this copy has the content of an uncommitted file. */
  async function keepForUndo({ cast }: Watch, { files }: FolderSnapshot): Promise<void> {
    const leftOut = await keepContents(stateDir, dir, files);
    if (leftOut === 0 || unkept.has(cast)) return;
    unkept.add(cast);
    say(`  ! ${leftOut} files are too large to keep copies of: undo cannot put them back`);
  }
  /** Runs the checkers of a turn, and restores what they change. */
  async function leavingFiles<T>(watch: Watch, cwd: string, check: () => Promise<T>): Promise<T> {
    const runs = Object.keys(watch.checks).length + (watch.work?.checkers.length ?? 0) > 0;
    const record = runs && cwd !== dir ? aloneIn(watch) : null;
    const { value, putBack } = await leaveUnchanged(stateDir, record, check);
    const more = putBack.length > 1 ? ` (and ${putBack.length - 1} more)` : '';
    if (putBack.length > 0) say(`  ! the project's checks changed ${putBack[0]}${more}; it is put back`);
    return value;
  }
  return {
    async before(watch, cwd) {
      const file = fileOf(folder, watch);
      const looking = lookAtMain(checkoutOf(watch, cwd), (checkout) =>
        beginWatch(mainFileOf(folder, watch), checkout, watch.isFresh),
      );
      looking.catch(() => undefined); // It is awaited below; what fails first is thrown.
      if (watch.files && watch.isFresh) {
        const earlier = known.get(cwd);
        const taken = await look(watch, cwd, () => snapshotOf(cwd, { skip, ...(earlier ? { known: earlier } : {}) }));
        if (taken) known.set(cwd, taken);
        if (taken && cwd === dir) await keepForUndo(watch, taken);
        if (taken) keep(folder, file, taken);
        else rmSync(file, { force: true });
      }
      await looking;
      mainNotes.set(mainFileOf(folder, watch), textOf(mainFileOf(folder, watch)));
      breaches.set(file, mendRecords(stateDir, watch.cast));
      return sealFor(watch, cwd);
    },
    async orders(watch, cwd) {
      const since = watch.files ? readSnapshot(fileOf(folder, watch)) : null;
      const now = since ? await look(watch, cwd, () => snapshotOf(cwd, { since, skip })) : null;
      const changed = since && now ? changesBetween(since, now) : [];
      return Object.fromEntries(
        changed.filter(({ path }) => configuredBy(path) !== null).map(({ path, digest }) => [path, digest]),
      );
    },
    async attest(watch, handoffId, timestamp) {
      return attester(watch, handoffId, timestamp);
    },
    async after(watch, cwd, signal) {
      const seal = `${sealFor(watch, cwd)}${isBreached(watch) ? '.changed' : ''}`;
      const looking = mainChanges(watch, cwd);
      looking.catch(() => undefined);
      const file = fileOf(folder, watch);
      const since = watch.files ? readSnapshot(file) : null;
      const after = since ? await look(watch, cwd, () => snapshotOf(cwd, { since, skip })) : null;
      const changed = since && after ? changedIn(cwd, stateDir, since, after) : [];
      const changes = Object.fromEntries(changed.map(({ path, digest }) => [path, digest]));
      if (since && cwd === dir) noteBefore(stateDir, watch.cast, since, Object.keys(changes), watch.compares);
      const context = { root: cwd, changes: Object.keys(changes), say, ...(signal ? { signal } : {}) };
      const work = watch.work && changed.length > 0 ? watch.work : null;
      // Files of the checkers are not part of the diff.
      const diff = work && since ? await diffOfWork(watch, work, cwd, since, context.changes) : null;
      const checked = passes && { passes, about: aboutTurn(watch.cast, watch.turn, changes) };
      const { checks, turnChecks } = await leavingFiles(watch, cwd, async () => ({
        checks: await runCheckers(watch.checks, watch.checkers, context),
        turnChecks: work ? await checkProject(work.checkers, watch.checkers, context, checked) : [],
      }));
      const approval = watch.approval ? sealForTurn(watch.approval, { dir, stateDir }, cwd, process.env) : null;
      const unkept =
        since && after && cwd !== dir
          ? { ...(await outside(watch)), ...(await uncommittableIn(cwd, since, after, changed)) }
          : {};
      const main = await looking;
      const artifacts = artifactsIn(cwd, watch.artifacts);
      const seen = { ...(turnChecks.length > 0 ? { turnChecks } : {}), ...(diff ? { diff } : {}) };
      return { seal, changes, unkept, ...(main ? { main } : {}), checks, ...seen, approval, artifacts };
    },
    async forget(cast) {
      for (const name of namesIn(folder)) if (name.startsWith(`${cast}-`)) rmSync(join(folder, name), { force: true });
      const underWay = namesIn(folder).flatMap((name) => Object.values(readSnapshot(join(folder, name))?.files ?? {}));
      dropUnneeded(stateDir, new Set([...neededIn(stateDir), ...underWay.flatMap(({ content }) => content ?? [])]));
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function fileOf(folder: string, { cast, turn }: Pick<Watch, 'cast' | 'turn'>): string {
  return join(folder, `${cast}-${turn}.json`);
}

function mainFileOf(folder: string, { cast, turn }: Pick<Watch, 'cast' | 'turn'>): string {
  return join(folder, `${cast}-${turn}.main.json`);
}

/** A digest of what was noted before the first attempt of a turn. Empty where nothing was. */
function notedFor(folder: string, watch: Watch): string {
  const noted = [textOf(fileOf(folder, watch)), firstLookAt(mainFileOf(folder, watch))];
  return noted.every((text) => text === null) ? '' : `.${hash('sha256', JSON.stringify(noted), 'hex')}`;
}

/** A pipe in its place would never end. */
function textOf(file: string): string | null {
  try {
    return lstatSync(file).isFile() ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  }
}

function keep(folder: string, file: string, snapshot: FolderSnapshot): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${file}.new`, JSON.stringify(snapshot), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** The changes of a turn so far, or null if unknown. */
export async function changedSoFar(
  { dir, stateDir }: { readonly dir: string; readonly stateDir: string },
  turn: Pick<Watch, 'cast' | 'turn'>,
  cwd: string,
): Promise<Readonly<Record<string, string | null>> | null> {
  const since = readSnapshot(fileOf(join(stateDir, 'turns'), turn));
  if (!since) return null;
  const below = relative(dir, stateDir);
  try {
    const now = await snapshotOf(cwd, { since, skip: below.startsWith('..') ? [] : [below] });
    return Object.fromEntries(changedIn(cwd, stateDir, since, now).map(({ path, digest }) => [path, digest]));
  } catch (error) {
    if (error instanceof ChangesError) return null;
    throw error;
  }
}

function changedIn(root: string, stateDir: string, since: FolderSnapshot, now: FolderSnapshot): readonly FileChange[] {
  return withoutOutputs(changesBetween(since, now), { stateDir, root }, since, now);
}

function readSnapshot(file: string): FolderSnapshot | null {
  try {
    return JSON.parse(textOf(file) ?? '') as FolderSnapshot;
  } catch {
    return null;
  }
}

// Checks the files that a report names as evidence: whether they are in the folder of the turn after every link, and their
// size. Their content is not read.
export function artifactsIn(folder: string, paths: readonly string[]): Artifacts {
  return Object.fromEntries(paths.map((path) => [path, artifactIn(folder, path)]));
}

function artifactIn(folder: string, path: string): Artifact {
  try {
    const root = realpathSync(folder);
    const place = join(root, path);
    const nearest = nearestThere(place);
    if (!isWithin(root, realpathSync(nearest))) return { inside: false, bytes: null };
    const found = nearest === place ? statSync(place) : null;
    return { inside: true, bytes: found?.isFile() ? found.size : null };
  } catch {
    // A broken link, a circle of links, or a forbidden folder: the target is unknown.
    return { inside: false, bytes: null };
  }
}

/** The path itself, or the nearest existing folder above it. A link exists, even a broken one. */
function nearestThere(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false }) !== undefined || dirname(at) === at) return at;
  }
}

function isWithin(root: string, place: string): boolean {
  const below = relative(root, place);
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}

// The diff of an item for its judges: the files that its turns changed, from the commit before the first change to the present
// folder. It uses its own index, so it does not disturb other git programs.
type ItemOfTurn = {
  readonly cast: string;
  readonly cwd: string;
  readonly stateDir: string;
  /** Whether people work in the same folder. */
  readonly inPlace: boolean;
  readonly base: string;
  readonly paths: readonly string[];
};

/** Null if git cannot show it. */
async function diffOfItem({ cast, cwd, stateDir, inPlace, base, paths }: ItemOfTurn): Promise<ItemDiff | null> {
  const before = inPlace ? readBefore(stateDir, cast) : {};
  const shown = paths.filter((path) => !isUnknown(before, path));
  const patch = shown.length === 0 ? '' : await patchOf(cwd, stateDir, base, shown);
  if (patch === null) return null;
  const unknown = paths.length - shown.length;
  const notes = [
    ...(inPlace && patch !== '' ? ['# Nothing is committed between items here: earlier items may show in it.'] : []),
    ...(unknown > 0 ? [`# Not shown: ${unknown} of the files, which had uncommitted changes before.`] : []),
  ];
  return { base, text: [bounded(withoutSecrets(patch), base), ...notes].filter((part) => part !== '').join('\n') };
}

function isUnknown(before: BeforeState, path: string): boolean {
  return Object.hasOwn(before, path) && ['unknown', 'kept'].includes(before[path]?.kind ?? '');
}

const UPDATE = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
const DIFF = ['diff', '--cached', '--relative', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'];

async function patchOf(cwd: string, stateDir: string, base: string, paths: readonly string[]): Promise<string | null> {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(stateDir, 'index-'));
  const env = { GIT_INDEX_FILE: join(folder, 'index') };
  try {
    // The index starts empty, because it needs only the shown paths.
    const all = await tryGit(cwd, UPDATE, { env, input: paths.join('\0') });
    // A file that git cannot stage does not hide the others.
    for (const path of all.code === 0 ? [] : paths) await tryGit(cwd, UPDATE, { env, input: path });
    const { code, out } = await tryGit(cwd, ['--literal-pathspecs', ...DIFF, base, '--', ...paths], { env });
    return code === 0 ? out : null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Short patches come first, so that one generated file does not hide the others. */
function bounded(patch: string, base: string): string {
  const bytes = Buffer.byteLength(patch);
  if (bytes <= DIFF_BYTES_MAX) return patch;
  const files = patch.split(/^(?=diff --git )/m).sort((a, b) => a.length - b.length);
  const rest = `# The diff is cut: it has ${bytes} bytes. All of it: git diff ${base}`;
  return `${firstBytes(files.join(''), DIFF_BYTES_MAX)}\n${rest}`;
}
