// What the agents cost: by day, by agent and by model.
import { type ReactNode, useMemo, useState } from 'react';
import { Segments } from '../parts/button.tsx';
import { Answered, Empty } from '../parts/states.tsx';
import { Foreign } from '../parts/text.tsx';
import { daysAgo, sumOf, type UsageRow, useUsage } from '../shell/cost.ts';
import { count, day, money, plural, tokens } from '../words.ts';

const GROUPS = [
  ['day', 'By day'],
  ['agent', 'By agent'],
  ['model', 'By model'],
] as const;
type Group = (typeof GROUPS)[number][0];
const HEADINGS: Readonly<Record<Group, string>> = { day: 'Day', agent: 'Agent', model: 'Model' };
const SPANS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['all', 'All'],
] as const;

export function Costs(): ReactNode {
  const usage = useUsage();
  const [group, setGroup] = useState<Group>('day');
  const [span, setSpan] = useState<(typeof SPANS)[number][0]>('30');
  return (
    <div className="view-main costs">
      <div className="costs-choices">
        <Segments label="Group" of={GROUPS} chosen={group} onChoose={setGroup} />
        <Segments label="Time" of={SPANS} chosen={span} onChoose={setSpan} />
      </div>
      <Answered answer={usage} what="The costs">
        {({ rows }) =>
          rows.length === 0 ? <Empty>No agent has used anything yet.</Empty> : <Table {...{ rows, group, span }} />
        }
      </Answered>
    </div>
  );
}

function Table({ rows, group, span }: { rows: readonly UsageRow[]; group: Group; span: string }): ReactNode {
  const days = span === 'all' ? 3_650 : Number(span);
  const first = daysAgo(days - 1);
  const within = useMemo(() => rows.filter((row) => row.day >= first), [rows, first]);
  const currency = rows[0]?.currency ?? 'USD';
  const grouped = useMemo(() => sums(within, group), [within, group]);
  const most = Math.max(...grouped.map(({ cost }) => cost), 0);
  return (
    <>
      <p className="costs-total">
        <b>{money(sumOf(within), currency)}</b>{' '}
        <span className="quiet">
          {tokens(within.reduce((sum, each) => sum + each.input + each.output, 0))} tokens in{' '}
          {plural(
            within.reduce((sum, each) => sum + each.attempts, 0),
            'attempt',
          )}
        </span>
      </p>
      <table className="costs-table">
        <thead>
          <tr>
            <th scope="col">{HEADINGS[group]}</th>
            <th scope="col">
              <span className="unseen">Share</span>
            </th>
            <th scope="col">Attempts</th>
            <th scope="col">Tokens in</th>
            <th scope="col">Tokens out</th>
            <th scope="col">Cost</th>
          </tr>
        </thead>
        <tbody>
          {grouped.map((row) => (
            <tr key={row.name}>
              <th scope="row">{group === 'day' ? day(row.name) : <Foreign text={row.name} />}</th>
              <td className="share">
                <span style={{ width: `${most === 0 ? 0 : (100 * row.cost) / most}%` }} />
              </td>
              <td>{count(row.attempts)}</td>
              <td>{tokens(row.input)}</td>
              <td>{tokens(row.output)}</td>
              <td>{money(row.cost, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

type Sum = Pick<UsageRow, 'input' | 'output' | 'cost' | 'attempts'> & { readonly name: string };

function sums(rows: readonly UsageRow[], group: Group): readonly Sum[] {
  const nameOf = (row: UsageRow): string =>
    group === 'day'
      ? row.day
      : group === 'agent'
        ? row.agent
        : [row.runner, row.model].filter(Boolean).join(', ') || 'no model';
  const add = (of: readonly UsageRow[], name: 'input' | 'output' | 'cost' | 'attempts') =>
    of.reduce((sum, each) => sum + each[name], 0);
  return [...Map.groupBy(rows, nameOf)]
    .map(([name, of]) => ({
      name,
      ...{ input: add(of, 'input'), output: add(of, 'output'), cost: add(of, 'cost'), attempts: add(of, 'attempts') },
    }))
    .sort((a, b) => (group === 'day' ? b.name.localeCompare(a.name) : b.cost - a.cost));
}
