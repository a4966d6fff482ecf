// The generated pages of the reference: the commands, the codes and the operations, as their own tables tell them.
import { roleFor } from '../src/access/rights.ts';
import type { OperationField as Field, OperationEntry } from '../src/app/operation.ts';
import { OPERATIONS } from '../src/app/operations/table.ts';
import type { Command } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/commands.ts';
import { GROUPS } from '../src/cli/help.ts';
import { HANDOFF } from '../src/dialects/materia/contract.ts';
import { PAYLOADS } from '../src/dialects/operator/contract.ts';
import { GOVERNED_CODES } from '../src/kernel/codes/governed.ts';
import { GRAPH_CODES } from '../src/kernel/codes/graph.ts';
import { OPERATOR_CODES, OPERATOR_RULES } from '../src/kernel/codes/operator.ts';
import { ALLOWED_CODES, type CodeRow } from '../src/kernel/codes/row.ts';
import { APPROVAL_CODES, KNOWLEDGE_CODES } from '../src/kernel/codes/team.ts';
import { AGENT_CODES, GAIA_CODES, GAIA_REPORT_CODES } from '../src/kernel/codes/turn.ts';
import { ACCESS_CODES, EVIDENCE_CODES, SERVER_CODES, WORKTREE_CODES } from '../src/kernel/codes/workspace.ts';
import { CODES } from '../src/kernel/codes.ts';
import { describeField } from '../src/kernel/field-schema.ts';
import type { ObjectField, Field as Shape } from '../src/kernel/fields.ts';
import { BEFORE_ACCEPT } from '../src/kernel/gate/before-accept.ts';
import { BEFORE_DISPATCH } from '../src/kernel/gate/before-dispatch.ts';
import { WHOLE_CONFIG } from '../src/kernel/graph/config-fields.ts';
import { ENVELOPE } from '../src/trust/envelope.ts';

const GENERATED = '<!-- Written by `npm run docs`; a test fails when it is stale. -->';

/** Every page by its file name in `docs/reference/`. */
export const REFERENCE_PAGES: Readonly<Record<string, () => string>> = {
  'commands.md': commandsPage,
  'codes.md': codesPage,
  'operations.md': operationsPage,
  'configuration.md': configurationPage,
  'doors.md': doorsPage,
  'payloads.md': payloadsPage,
};

function doorsPage(): string {
  const rows = (checks: readonly { readonly name: string; readonly why: string }[]) =>
    checks.map(({ name, why }, index) => `| ${index + 1} | ${cell(name)} | ${cell(why)} |`).join('\n');
  return `${GENERATED}

# The checks at the two doors

A turn passes every check of the first list before an attempt starts, and its answer passes every check of the second list before
its handoff is accepted. They run in this order, and the first refusal counts. \`baton why CAST\` names the check that refused.

## Before dispatch

| | check | why it is at this place |
|---|---|---|
${rows(BEFORE_DISPATCH)}

## Before accept

An answer is read in the dialect of its socket, and secrets are scrubbed from it, before the checks after \`contract\`.

| | check | why it is at this place |
|---|---|---|
${rows(BEFORE_ACCEPT)}
`;
}

function commandsPage(): string {
  const rows = GROUPS.flatMap(([group, title]) =>
    COMMANDS.filter((command) => command.group === group).map(
      ({ name, summary, act }) =>
        `| ${title} | [\`baton ${name}\`](#baton-${name}) | ${cell(summary)} | ${rolesFor(act)} |`,
    ),
  );
  const sections = GROUPS.flatMap(([group]) => COMMANDS.filter((command) => command.group === group).map(section));
  return `${GENERATED}

# Commands

Every command takes \`-C DIR\` (the workspace), \`--json\` (exactly one JSON value on standard output) and \`--help\`.
\`latest\` stands for the newest cast wherever a CAST is asked for. What the exit codes mean and what the JSON looks like:
[the command line](../cli.md).

Who acts for a token (\`baton token\`) needs the role in the last column, or a higher one: viewer, operator, approver, admin.

| | command | does | role |
|---|---|---|---|
${rows.join('\n')}

${sections.join('\n\n')}
`;
}

/** The role of a command, or of each of its forms. */
function rolesFor(act: Command['act']): string {
  if (typeof act === 'string') return roleFor(act);
  const forms = Object.entries(act).map(([word, one]) => `${word === '' ? 'else' : `\`${word}\``} ${roleFor(one)}`);
  return forms.toSorted((a, b) => Number(a.startsWith('else')) - Number(b.startsWith('else'))).join(', ');
}

function section({ name, args, summary, help, example }: Command): string {
  const usage = `baton ${name}${args ? ` ${args}` : ''}`;
  const body = [usage, ...(help ? ['', help] : []), '', `Example: ${example}`].join('\n');
  return `## baton ${name}\n\n${sentence(summary)}\n\n\`\`\`text\n${body}\n\`\`\``;
}

const CHAPTERS: readonly (readonly [title: string, codes: Readonly<Record<string, CodeRow>>])[] = [
  ['Allowed', ALLOWED_CODES],
  ['Loadouts and casts', GRAPH_CODES],
  ['Agents', AGENT_CODES],
  ['Turns (gaia)', GAIA_CODES],
  ['Findings of a turn’s report (gaia)', GAIA_REPORT_CODES],
  ['Shared knowledge', KNOWLEDGE_CODES],
  ['Ledger (operator)', OPERATOR_CODES],
  ['Rules of the gates (operator)', OPERATOR_RULES],
  ['Trust (governed)', GOVERNED_CODES],
  ['History as evidence', EVIDENCE_CODES],
  ['Worktrees', WORKTREE_CODES],
  ['Approvals', APPROVAL_CODES],
  ['Access', ACCESS_CODES],
  ['The server', SERVER_CODES],
];

const RETRY: Readonly<Record<CodeRow['retry'], string>> = {
  repaired: 'repaired',
  later: 'later',
  person: 'a person acts',
  never: 'never',
};

function codesPage(): string {
  const chapters = CHAPTERS.map(([title, codes]) => {
    const rows = Object.entries(codes).map(
      ([code, { means, cause, fix, retry, http }]) =>
        `| \`${code}\` | ${cell(means)} | ${cell(cause)} | ${cell(fix)} | ${RETRY[retry]} | ${http} |`,
    );
    return `## ${title}\n\n| code | means | caused by | what to do | try again when | HTTP |\n|---|---|---|---|---|---|\n${rows.join('\n')}`;
  });
  return `${GENERATED}

# Codes

Every refusal has one of these ${Object.keys(CODES).length} codes. A code never changes its meaning. \`baton explain CODE\` says the same
in a terminal.

${chapters.join('\n\n')}
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function operationsPage(): string {
  const sections = (Object.values(OPERATIONS) as readonly OperationEntry[]).map(operationSection);
  return `${GENERATED}

# Operations

Every use case is one operation. The command line, MCP and the library (\`workspace.perform(name, input)\`) call the same
ones, and each answers with a verdict. \`role\` is the least role of a token that may. An operation for people is refused to
an agent (\`APPROVER_IS_AGENT\`).

${sections.join('\n\n')}
`;
}

function operationSection(entry: OperationEntry): string {
  const { name, group, act, peopleOnly, means, fields, cli, mcp } = entry;
  const people = peopleOnly === undefined ? '' : ' · for people only';
  const form = typeof cli === 'string' ? cli : name.replace('.', ' ');
  const command = typeof cli === 'object' ? `left out: ${cli.leftOut}` : `\`baton ${form}\``;
  const tool = 'leftOut' in mcp ? `left out: ${mcp.leftOut}` : `\`${mcp.name}\`, for ${AUDIENCES[mcp.audience]}`;
  const rows = Object.entries(fields).map(fieldRow);
  const table = rows.length === 0 ? [] : ['', '| field | type | means |', '|---|---|---|', ...rows];
  return [
    `## ${name}`,
    '',
    `${means.charAt(0).toUpperCase()}${means.slice(1)}.`,
    '',
    `- group ${group} · role ${roleFor(act)}${people}`,
    `- command line: ${cell(command)}`,
    `- MCP: ${cell(tool)}`,
    ...table,
  ].join('\n');
}

const AUDIENCES = { agent: 'an agent within its attempt', person: 'people', anyone: 'people and agents' } as const;

function fieldRow([name, field]: [string, Field]): string {
  const needed = field.required === true ? ', required' : field.required ? ', required outside of an attempt' : '';
  const type = field.type === 'choice' ? `one of ${field.of.join(', ')}` : field.type;
  return `| \`${name}\` | ${cell(type)}${needed} | ${cell(field.means)} |`;
}

function configurationPage(): string {
  return `${GENERATED}

# Configuration

Every field of \`.baton/config.json\`, from the tables that \`baton check\` and \`schemas/config.schema.json\` are made from. A name that
starts with \`x_\` is your own. What the parts are for: [loadouts and the graph](../loadouts.md).

${objectSections(WHOLE_CONFIG, '').join('\n\n')}
`;
}

/** The tables of payloads by their kind, as `baton validate` names it. */
const PAYLOAD_TABLES: Readonly<Record<string, ObjectField>> = {
  materia: HANDOFF,
  ...Object.fromEntries(Object.entries(PAYLOADS).map(([kind, table]) => [`operator/${kind}`, table])),
  'governed/handoff': ENVELOPE,
};

function payloadsPage(): string {
  const sections = Object.entries(PAYLOAD_TABLES).map(([kind, table]) =>
    [`## ${kind}`, '', '| field | is | means |', '|---|---|---|', ...payloadRows(table, '')].join('\n'),
  );
  return `${GENERATED}

# Fields of the payloads

Every field, from the tables that \`baton validate KIND\` and the files in \`schemas/\` are made from. \`[]\` is an entry of a list. In a payload of the
operator, a name that starts with \`x_\` is your own. What must agree between fields, examples and codes: [materia](../contracts/materia.md),
[operator](../contracts/operator.md), [governed](../contracts/governed.md). The report of a gaia turn: [gaia](../contracts/gaia.md).

${sections.join('\n\n')}
`;
}

function payloadRows({ fields }: ObjectField, path: string): string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const place = `${path}${name}`;
    const needed = field.required === true ? ', required' : '';
    const usual = field.default === undefined ? '' : `, \`${JSON.stringify(field.default)}\` without it`;
    const max = field.type === 'text' || field.type === 'path' ? field.charsMax : undefined;
    const type = field.type === 'json' ? 'any value' : describeField(field);
    const limit = max === undefined ? '' : `, at most ${max} characters`;
    const row = `| \`${place}\` | ${cell(type)}${limit}${needed}${usual} | ${cell(field.means ?? '')} |`;
    const entry = field.type === 'list' ? field.of : field;
    if (entry?.type !== 'object') return [row];
    const kind = Object.keys(PAYLOAD_TABLES).find((each) => PAYLOAD_TABLES[each]?.fields === entry.fields);
    if (kind !== undefined) return [row, `| \`${place}[]\` | [${kind}](#${kind.replace('/', '')}) | |`];
    return [row, ...payloadRows(entry, `${place}${field.type === 'list' ? '[]' : ''}.`)];
  });
}

/** The section of an object, and those of the objects in it. `NAME` stands for a name of your own. */
function objectSections(table: Shape, path: string): string[] {
  if (table.type === 'map') return objectSections(table.of, `${path}.NAME`);
  if (table.type === 'list') return table.of ? objectSections(table.of, `${path}[]`) : [];
  if (table.type === 'oneOf') return table.of.flatMap((one) => objectSections(one, path));
  if (table.type !== 'object') return [];
  const fields = Object.entries(table.fields).filter(([, { obsolete, ignored }]) => !obsolete && !ignored);
  const rows = fields.map(([name, field]) => {
    const needed = field.required === true ? ', required' : '';
    const usual = field.default === undefined ? '' : `, \`${JSON.stringify(field.default)}\` without it`;
    const type = cell(field.type === 'json' ? 'see the schema' : describeField(field));
    return `| \`${name}\` | ${type}${needed}${usual} | ${cell(field.means ?? '')} | \`${cell(JSON.stringify(field.example))}\` |`;
  });
  const title = path === '' ? 'The file' : `\`${path.slice(1)}\``;
  const section = [`## ${title}`, '', '| field | is | means | example |', '|---|---|---|---|', ...rows].join('\n');
  return [section, ...fields.flatMap(([name, field]) => objectSections(field, `${path}.${name}`))];
}
