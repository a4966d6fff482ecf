// Who a materia is in the registry, and to whom it may hand. It is read here; the lock is written by `baton registry lock` alone.
import type { ReactNode } from 'react';
import { CopyCommand } from '../parts/button.tsx';
import { Facts } from '../parts/pane.tsx';
import { Foreign } from '../parts/text.tsx';
import { useLook } from '../workspace.ts';

type AgentRow = { readonly id: string; readonly [member: string]: unknown };

export function TrustPart({ materia, identity }: { materia: string; identity: string | null }): ReactNode {
  const { details, refusal } = useLook<{ readonly agents?: readonly AgentRow[] }>(
    identity === null ? null : 'registry.list',
  );
  if (identity === null)
    return (
      <p className="form-note">
        <Foreign text={materia} /> has no identity in the registry. No boundary holds for it. The registry and its lock
        give one; the editor does not.
      </p>
    );
  const agent = details?.agents?.find(({ id }) => id === identity);
  return (
    <>
      <Facts
        rows={[
          ['Identity', <code key="id">{identity}</code>],
          ...Object.entries(agent ?? {})
            .filter(([name]) => name !== 'id')
            .map(([name, value]) => [name, <Foreign key={name} text={shown(value)} />] as const),
        ]}
      />
      {refusal ? <p className="form-note">{refusal.reason}</p> : null}
      {details && !agent ? (
        <p className="form-note bad">
          The registry here knows no <Foreign text={identity} />.
        </p>
      ) : null}
      <p className="form-note">Identity, boundary and lock are read here. A person writes the lock by its command.</p>
      <CopyCommand command="baton registry lock" label="Copy: baton registry lock" />
    </>
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(shown).join(', ');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
