// What an agent may do. A tool that is not known here is shown and kept: files are edited on other machines, too.
import type { ReactNode } from 'react';
import { TOOL_SCOPES } from '../../../src/kernel/graph/config.ts';
import { TOOLS } from '../../../src/kernel/graph/materia-fields.ts';
import { isObject, isString, type Json, listAt } from '../../../src/kernel/json.ts';
import { Segments } from '../parts/button.tsx';
import { Foreign } from '../parts/text.tsx';
import { type FormContext, Typed } from './typed.tsx';

const SCOPES = [
  ...TOOL_SCOPES.map(
    (scope) => [scope, { none: 'none', readOnly: 'read only', readAndRun: 'run', coding: 'coding' }[scope]] as const,
  ),
  ['custom', 'custom'] as const,
];

export function ToolsControl({
  value,
  context,
  known,
}: {
  value: Json | undefined;
  context: FormContext;
  known: readonly string[];
}): ReactNode {
  const isCustom = isObject(value);
  const tools = isCustom ? listAt(value, 'tools').filter(isString) : [];
  const unknown = known.length === 0 ? [] : tools.filter((tool) => !known.includes(tool));
  return (
    <div className="field" data-field="tools">
      <span className="field-label">Tools</span>
      <Segments
        label="Tools"
        of={SCOPES}
        chosen={isCustom ? 'custom' : isString(value) ? (value as 'none') : ('' as 'none')}
        onChoose={(next) =>
          context.isReadOnly || context.set(['tools'], next === 'custom' ? { type: 'custom', tools: [] } : next)
        }
      />
      {isCustom ? (
        <>
          <label htmlFor="form-tools">Names of its tools</label>
          <Typed
            id="form-tools"
            context={context}
            rows={3}
            placeholder="one on each line, such as Read"
            value={tools.join('\n')}
            read={(text) => text.split('\n').filter((line) => line !== '')}
            put={(next) => context.set(['tools', 'tools'], next ?? [])}
          />
          {unknown.length > 0 ? (
            <p className="field-hint">
              Not known here: <Foreign text={unknown.join(', ')} />. They stay, and are offered where they exist.
            </p>
          ) : null}
        </>
      ) : (
        <p className="field-hint">{TOOLS.means}</p>
      )}
    </div>
  );
}
