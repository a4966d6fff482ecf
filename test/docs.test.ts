// The pages say what is true. Every `sh` block is run, in the order of its page and by one shell for each page; `json`
// must parse; what cannot run here is marked `text`.
//
// In a `sh` block each command must end with 0, or with N where its comment says `exit N`. A code in the comment (such as
// `# LOCK_CONFLICT`) must be in what the command prints. Named blocks (`json packet.json`) are written as files when the
// page comes to them. The lines of a `text output` block must be in what the last `sh` block printed; … stands for
// anything. `/tmp` is a folder of the page's own.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CODES } from '../src/kernel/codes.ts';
import type { Json } from '../src/kernel/json.ts';
import { OPTIONS } from '../src/short-form/table.ts';
import { agent, always, BATON, baton, CHECKOUT, environment, flow, personToken, project, put } from './cli/baton.ts';
import { forwardBaton } from './cli/forwarded.ts';
import { commit, git } from './cli/repository.ts';
import { asBlock, reportOf } from './reports.ts';

type Block = { readonly line: number; readonly language: string; readonly name: string; readonly text: string };
type Page = { readonly blocks: readonly Block[]; readonly faults: readonly string[] };
type Command = {
  readonly line: number;
  readonly text: string;
  readonly exit: number;
  readonly codes: readonly string[];
};

/** `docs/reference` is generated, and `docs/decisions` hold no commands. */
const LEFT_OUT = ['docs/reference', 'docs/decisions'];
const PAGES = ['README.md', 'examples/**/README.md', 'docs/**/*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: CHECKOUT }))
  .filter((page) => !LEFT_OUT.some((folder) => page.startsWith(`${folder}/`)))
  .sort();

const LANGUAGES = ['sh', 'text', 'json', 'yaml', 'ts', 'js', 'markdown', 'agent_contract_handoff'];

/** The code blocks of a page, and what is wrong with their form. */
function pageOf(text: string): Page {
  const blocks: Block[] = [];
  const faults: string[] = [];
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const [, indent = '', fence, info = ''] = /^( *)(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (fence === undefined) {
      if (isIndentedCode(lines, at)) faults.push(`${at + 1}: an indented code block; fence it and name its language`);
      continue;
    }
    const end = lines.findIndex((other, index) => index > at && other.trim() === fence);
    if (end < 0) {
      faults.push(`${at + 1}: a fence that is not closed`);
      break;
    }
    const [language = '', ...name] = info.trim().split(' ');
    if (!LANGUAGES.includes(language)) faults.push(`${at + 1}: a code block of language "${language}"`);
    const body = lines
      .slice(at + 1, end)
      .map((other) => (other.startsWith(indent) ? other.slice(indent.length) : other));
    blocks.push({ line: at + 1, language, name: name.join(' '), text: `${body.join('\n')}\n` });
    at = end;
  }
  return { blocks, faults };
}

/** Four blanks after an empty line make code, unless they carry on an item of a list that begins that far in. */
function isIndentedCode(lines: readonly string[], at: number): boolean {
  const depth = (line: string) => line.length - line.trimStart().length;
  const line = lines[at] ?? '';
  if (depth(line.replaceAll('\t', '    ')) < 4 || line.trim() === '' || (lines[at - 1] ?? '').trim() !== '')
    return false;
  const above = lines.slice(0, at).findLast((other) => other.trim() !== '' && depth(other) < depth(line)) ?? '';
  const [marker] = /^\s*(?:[-*+]|\d+[.)])\s+/.exec(above) ?? [''];
  return marker === '' || depth(line) >= marker.length + 4;
}

/** The commands of a `sh` block: one on each line, with lines that end in `\` and with here-documents. */
function commandsOf(block: Block): Command[] {
  const commands: Command[] = [];
  const lines = block.text.trimEnd().split('\n');
  for (let at = 0; at < lines.length; at += 1) {
    const from = at;
    while (lines[at]?.endsWith('\\')) at += 1;
    const comment = /\s# (.*)$/.exec(lines[at] ?? '')?.[1] ?? '';
    const [, mark] = /<<-?\s*'?(\w+)'?/.exec(lines[at] ?? '') ?? [];
    if (mark !== undefined) while (at < lines.length && lines[at] !== mark) at += 1;
    const text = lines.slice(from, at + 1).join('\n');
    if (/^\s*(#|$)/.test(text)) continue;
    const exit = Number(/\bexit (\d+)/.exec(comment)?.[1] ?? 0);
    const codes = (comment.match(/\b[A-Z][A-Z0-9_-]+\b/g) ?? []).filter(isCode);
    commands.push({ line: block.line + 1 + from, text, exit, codes });
  }
  return commands;
}

function isCode(word: string): boolean {
  return word === 'OK' || word.includes('_') || Object.hasOwn(CODES, word);
}

/** The links of a page to other files of the project whose file or heading does not exist. */
function brokenLinks(page: string, text: string): string[] {
  const links = withoutBlocks(text).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g);
  return [...links].flatMap(([link, file = '', heading]) => {
    const target = file === '' ? page : join(dirname(page), file);
    if (!existsSync(join(CHECKOUT, target))) return [`${page}: ${link.slice(1)}`];
    const isThere =
      heading === undefined || headingsOf(file === '' ? text : contentOf(join(CHECKOUT, target))).has(heading);
    return isThere ? [] : [`${page}: ${link.slice(1)}`];
  });
}

/** The names by which links lead to the headings of a page, as GitHub makes them. */
function headingsOf(text: string): Set<string> {
  const headings = [...withoutBlocks(text).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function withoutBlocks(text: string): string {
  return text.replace(/^( *)(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '');
}

/** Commands of baton in a page that do not exist, and options that their commands do not have. */
function unknownCommands(page: string, text: string): string[] {
  const inline = [...withoutBlocks(text).matchAll(/`(?:bin\/)?baton ([^`]+)`/g)].map(([, words = '']) => words);
  const blocks = pageOf(text).blocks.filter(({ language }) => language === 'sh' || language === 'text');
  const lines = blocks.flatMap((block) => block.text.split('\n'));
  const typed = lines.flatMap((line) => /^\s*(?:\$ )?(?:bin\/)?baton (.*?)(?: # .*)?$/.exec(line)?.[1] ?? []);
  return [...inline, ...typed].flatMap((line) => {
    const [words = ''] = line.replace(/"[^"]*"/g, '').split(/ -- |\|/);
    const name = /^(?:-C \S+ |-\S+ )*([a-z]+)(?= |$)/.exec(words)?.[1];
    if (name === undefined) return [];
    const help = HELP.get(name);
    if (help === undefined) return [`${page}: baton ${name}`];
    const options = words.match(/(?<= )--[a-z][a-z-]*/g) ?? [];
    const unknown = options.filter((option) => !EVERYWHERE.includes(option) && !help.includes(option));
    return unknown.map((option) => `${page}: baton ${name} ${option}`);
  });
}

const EVERYWHERE = ['--json', '--help'];
/** What the reference says of each command. */
const HELP = new Map(
  contentOf(join(CHECKOUT, 'docs/reference/commands.md'))
    .split(/^## baton /m)
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', section]),
);

const FILES: Record<string, Json> = {
  'package.json': { name: 'shop', private: true, type: 'module', scripts: { test: 'node --test' } },
  'README.md': '# Shop\n',
  'src/session.js': 'export const limit = 60;\n',
};

type Preparation = { readonly why: string; prepare(dir: string, blocks: readonly Block[]): void };

const checkout: Preparation = {
  why: 'the page is read in a checkout, and its commands begin there',
  prepare: (dir) => {
    for (const name of ['bin', 'examples', 'verifier']) symlinkSync(join(CHECKOUT, name), join(dir, name));
    cpSync(join(CHECKOUT, 'package.json'), join(dir, 'package.json'));
  },
};

const satisfied = { satisfied: true };
const scripted: Preparation = {
  why: 'a team of two whose agents are a script: agents need a model, and how one is set up is the topic of other pages',
  prepare: (dir) => {
    const config = {
      activeLoadout: 'L',
      ...flow(
        { Build: { tools: 'coding', prompt: 'Build it.' }, Review: agent },
        {
          'Socket-1': { materia: 'Build', edges: [always('Socket-2')] },
          'Socket-2': { materia: 'Review', parse: 'json', edges: [{ when: 'satisfied', to: 'end' }] },
        },
      ),
    };
    const write = { 'src/version.js': "export const version = '1.0.0';\n" };
    const agents = { Build: [{ $turn: { output: 'Added.', write } }], Review: [satisfied] };
    put(dir, { '.baton/config.json': config, '.baton/.gitignore': 'state/\n', 'agents.json': agents });
    commit(dir, 'team');
  },
};

/** What a page needs beforehand and does not show. */
const PREPARED: Readonly<Record<string, Preparation>> = {
  'README.md': checkout,
  'examples/README.md': checkout,
  'examples/relay/README.md': checkout,
  'docs/worktrees.md': scripted,
  'docs/evidence.md': {
    why: `${scripted.why}; the verifier is run from a checkout`,
    prepare: (dir, blocks) => {
      scripted.prepare(dir, blocks);
      symlinkSync(join(CHECKOUT, 'verifier'), join(dir, 'verifier'));
    },
  },
  'docs/cli.md': {
    why: 'the loadout for which the script on the page speaks',
    prepare: (dir) => {
      const materia = { Plan: { ...agent, generator: true }, Build: { ...agent, tools: 'coding' }, Check: agent };
      const sockets = {
        'Socket-3': {
          materia: 'Plan',
          parse: 'json',
          assign: { workItems: '$.workItems' },
          edges: [always('Socket-4')],
        },
        'Socket-4': { materia: 'Build', edges: [always('Socket-5')] },
        'Socket-5': {
          materia: 'Check',
          parse: 'json',
          advance: { cursor: 'workItemIndex', items: 'state.workItems', when: 'satisfied' },
          edges: [{ when: 'satisfied', to: 'Socket-4' }],
        },
      };
      const loops = {
        items: { sockets: ['Socket-4', 'Socket-5'], consumes: { from: 'Socket-3', output: 'workItems' } },
      };
      put(dir, {
        '.baton/config.json': { activeLoadout: 'L', materia, loadouts: { L: { entry: 'Socket-3', sockets, loops } } },
      });
    },
  },
  'docs/knowledge.md': {
    why: 'an agent that suggested three notes to remember; the guide to turns shows such a cast',
    prepare: (dir) => {
      const notes = ['Services listen on 8080.', 'The linter wants tabs.', 'Tests take an hour.'];
      put(dir, { 'cast.json': flow({ Build: agent }, { 'Socket-1': { materia: 'Build', contract: 'gaia' } }) });
      put(dir, { 'script.json': { Build: [asBlock(reportOf('COMPLETE', { more: { memory_suggestions: notes } }))] } });
      const args = ['-C', dir, 'cast', '--file', 'cast.json', '--agents', 'script.json', 'Look around'];
      execFileSync(BATON, args, { env: environment(dir, { BATON_TOKEN: personToken() }), stdio: 'ignore' });
    },
  },
  'docs/contracts/operator.md': {
    why: 'the examples of the page, as files',
    prepare: (dir, blocks) => {
      const example = (name: string) => blocks.find((block) => block.name === name)?.text ?? '';
      put(dir, { 'packet.json': example('operator/assignment'), 'result.json': example('operator/result') });
    },
  },
  'docs/contracts/governed.md': {
    why: 'the registry that the envelope of the page is about, and that envelope as a file',
    prepare: (dir, blocks) => {
      cpSync(join(CHECKOUT, 'src/trust/fixtures/registry'), join(dir, '.baton'), { recursive: true });
      put(dir, { 'envelope.json': blocks.find(({ text }) => text.includes('"handoff_id"'))?.text ?? '' });
    },
  },
};

/** Runs the page in a repository of its own, and answers what did not go as the page says. */
async function faultsOfRun(page: string, { blocks }: Page): Promise<string[]> {
  const root = project();
  rmSync(join(root, '.baton'), { recursive: true });
  const [dir, tmp, printed] = ['shop', 'tmp', 'printed'].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [dir, tmp, printed]) mkdirSync(folder);
  put(root, { 'home/.gitconfig': '[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n' });
  put(dir, FILES);
  git(dir, 'init', '-q', '-b', 'main');
  for (const [key, value] of [
    ['name', 'Ada'],
    ['email', 'ada@example.org'],
  ])
    git(dir, 'config', `user.${key}`, `${value}`);
  commit(dir, 'first');
  PREPARED[page]?.prepare(dir, blocks);

  const steps = blocks.map((block) => ({ block, commands: block.language === 'sh' ? commandsOf(block) : [] }));
  const script = steps.flatMap(({ block, commands }) => {
    if (isFile(block)) put(root, { [`files/${block.line}`]: block.text });
    return isFile(block)
      ? [`mkdir -p '${dirname(block.name)}' && cp '${root}/files/${block.line}' '${block.name}'`]
      : commands.map(({ line, text, exit }) => {
          const file = join(printed, String(line));
          const own = text.replaceAll('/tmp/', `${tmp}/`);
          return `{\n${own}\n} >'${file}' 2>&1\nend=$?; echo $end >'${file}.exit'; [ $end = ${exit} ] || exit 0`;
        });
  });
  put(root, { 'page.sh': `set -o pipefail\n${script.join('\n')}\n` });
  // What a start does is shown by other tests. A page that kills a cast needs a process to kill.
  const kills = steps.some(({ commands }) => commands.some(({ text }) => /\bkill\b/.test(text)));
  const forwarded = kills ? null : await forwardBaton(root);
  const PATH = `${forwarded ? `${forwarded.bin}:` : ''}${join(CHECKOUT, 'bin')}:${join(CHECKOUT, 'node_modules/.bin')}:${process.env.PATH}`;
  const env = { PATH, HOME: join(root, 'home'), TMPDIR: tmp, BATON_TOKEN: personToken() };
  const shell = await baton(dir, [], { program: ['bash', join(root, 'page.sh')], env }).finally(() =>
    forwarded?.close(),
  );

  let last = '';
  const faults: string[] = shell.stderr === '' ? [] : [shell.stderr];
  for (const { block, commands } of steps) {
    if (commands.length > 0) last = '';
    for (const { line, text, exit, codes } of commands) {
      const end = contentOf(join(printed, `${line}.exit`)).trim();
      const said = contentOf(join(printed, String(line)));
      if (end !== String(exit))
        return [...faults, `${line}: ${text}\nended with ${end || 'nothing'}: ${said.slice(-2000)}`];
      const missing = codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(said));
      if (missing.length > 0)
        faults.push(`${line}: ${text}\nsays nothing of ${missing.join(', ')}: ${said.slice(-2000)}`);
      last += said;
    }
    if (block.language !== 'text' || block.name !== 'output') continue;
    const unsaid = block.text
      .trimEnd()
      .split('\n')
      .filter((line) => !asPattern(line).test(last));
    if (unsaid.length > 0) faults.push(`${block.line}: not printed: ${unsaid.join('\n')}\nbut: ${last}`);
  }
  return faults;
}

function isFile({ language, name }: Block): boolean {
  return ['json', 'yaml', 'js', 'markdown', 'text'].includes(language) && /^\S+\.\w+$/.test(name);
}

function contentOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** A line of output as a page shows it; … stands for what differs each time. */
function asPattern(line: string): RegExp {
  const parts = line
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^\\s*${parts.join('.*')}\\s*$`, 'm');
}

describe.each(PAGES)('%s', (page) => {
  const parsed = pageOf(readFileSync(join(CHECKOUT, page), 'utf8'));

  test('every code block is fenced and has a language, and JSON parses', () => {
    const broken = parsed.blocks
      .filter(({ language }) => language === 'json')
      .flatMap(({ line, text }) => {
        try {
          JSON.parse(text);
          return [];
        } catch (error) {
          return [`${line}: ${error}`];
        }
      });
    expect([...parsed.faults, ...broken].map((fault) => `${page}:${fault}`)).toEqual([]);
  });

  if (!parsed.blocks.some(({ language }) => language === 'sh')) return;
  test('every command does what the page says', { timeout: 300_000 }, async () => {
    expect((await faultsOfRun(page, parsed)).map((fault) => `${page}:${fault}`)).toEqual([]);
  });
});

test('every link of a page leads to a file and a heading that exist', () => {
  const pages = globSync(['*.md', 'examples/**/*.md', 'docs/**/*.md'], { cwd: CHECKOUT });
  expect(pages.flatMap((page) => brokenLinks(page, contentOf(join(CHECKOUT, page))))).toEqual([]);
});

test('every option of the short form is in its table', () => {
  const page = readFileSync(join(CHECKOUT, 'docs/short-form.md'), 'utf8');
  const listed = page.split('\n').flatMap((line) => (line.startsWith('| ') ? [...line.matchAll(/`(\w+)\b/g)] : []));
  const names = new Set(listed.map(([, name]) => name));
  expect(Object.keys(OPTIONS.fields).filter((name) => !names.has(name))).toEqual([]);
});

test('every command and option of a page exists', () => {
  const pages = [...PAGES, ...globSync('*.md', { cwd: CHECKOUT })];
  expect(pages.flatMap((page) => unknownCommands(page, contentOf(join(CHECKOUT, page))))).toEqual([]);
});

test.each([
  ['a command', 'Run `baton status --json`.', []],
  ['no command', 'Run `baton stats`.', ['a.md: baton stats']],
  ['no option', '```text\n$ baton -C x cast --fast "a --b" | sort --c\n```\n', ['a.md: baton cast --fast']],
  ['words for another program', '`baton exec --approval ID -- npm test --all`', []],
])('%s is judged', (_, text, unknown) => {
  expect(unknownCommands('a.md', text)).toEqual(unknown);
});

test.each([
  ['a heading of its own', '# A b: `c`\n[x](#a-b-c)\n', []],
  ['a heading that is not there', '# A\n[x](#b)\n', ['README.md: (#b)']],
  ['a file that is not there', '[x](docs/no.md)\n', ['README.md: (docs/no.md)']],
  ['a heading that another page lacks', '[x](docs/cli.md#no-such)\n', ['README.md: (docs/cli.md#no-such)']],
  ['text of a block', '```text\n[x](no.md)\n```\n', []],
  ['an address', '[x](https://example.org/no)\n', []],
])('a link to %s is judged', (_, text, broken) => {
  expect(brokenLinks('README.md', text)).toEqual(broken);
});

test.each([
  ['an indented block', 'Run:\n\n    baton status\n', ['3: an indented code block; fence it and name its language']],
  [
    'an indented block after a list',
    '- a\n\nb:\n\n    c\n',
    ['5: an indented code block; fence it and name its language'],
  ],
  ['an indented block in a list', '- a\n\n      c\n', ['3: an indented code block; fence it and name its language']],
  ['a second paragraph of an item', '1. a\n\n   b\n\n   - c\n\n     d\n', []],
  ['a fence without a language', '```\nbaton status\n```\n', ['1: a code block of language ""']],
  ['another name for a shell', '~~~bash\nbaton status\n~~~\n', ['1: a code block of language "bash"']],
  ['a fence that is not closed', '```sh\nbaton status\n', ['1: a fence that is not closed']],
  ['a fence within a fence', '````markdown\n```\nx\n```\n````\n', []],
])('the form of %s is judged', (_, text, faults) => {
  expect(pageOf(text).faults).toEqual(faults);
});

test.each([
  ['another exit', 'true\nfalse\ntouch later\n', '3: false\nended with 1: '],
  ['an exit that does not come', 'true     # exit 1\n', '2: true     # exit 1\nended with 0: '],
  ['a failure within a pipe', 'false | cat\n', '2: false | cat\nended with 1: '],
  [
    'a code that is not printed',
    'echo TAMPERED     # OK\n',
    '2: echo TAMPERED     # OK\nsays nothing of OK: TAMPERED\n',
  ],
  ['a shell that ends', 'exit 0\ntrue\n', '2: exit 0\nended with nothing: '],
  ['a line that is not printed', 'echo one\n```\n\n```text output\ntwo\n', '5: not printed: two\nbut: one\n'],
])('a page with %s fails', async (_, commands, fault) => {
  expect(await faultsOfRun('a page', pageOf(`\`\`\`sh\n${commands}\`\`\`\n`))).toEqual([fault]);
});

test('commands share one shell: folder, variables, files of the page, here-documents and exits', async () => {
  const commands =
    'mkdir a && cd a\nX=1\ncat > b <<EOF\nno # exit 9\nEOF\ngrep -q no \\\n  b\n(exit 4)  # exit 4\n[ $X = 1 ]\n';
  const text = `\`\`\`sh\n${commands}\`\`\`\n\n\`\`\`json c/d.json\n{}\n\`\`\`\n\n\`\`\`sh\ngrep . c/d.json\n\`\`\`\n`;
  expect(await faultsOfRun('a page', pageOf(text))).toEqual([]);
});
