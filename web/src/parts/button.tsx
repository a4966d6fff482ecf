// Everything that can be pressed. A button says a verb, shows its key, and can be had as a command.
import { type ReactNode, type Ref, useId, useState } from 'react';
import { carries, copy } from '../command.ts';
import { keyLabel } from '../keys.ts';
import { inLine } from '../words.ts';
import { Icon, type IconName } from './glyphs.tsx';
import './button.css';

/** Keys as they are printed on a keyboard. */
export function Kbd({ keys }: { keys: string }): ReactNode {
  return (
    <span className="kbds" aria-hidden="true">
      {keyLabel(keys).map((label) => (
        <kbd key={label}>{label}</kbd>
      ))}
    </span>
  );
}

type ButtonProps = {
  readonly children?: ReactNode;
  readonly kind?: 'primary' | 'plain' | 'quiet' | 'attention';
  readonly icon?: IconName;
  /** Needed where there is no text. */
  readonly label?: string;
  readonly keys?: string;
  /** What it says while it works; its width stays. */
  readonly busy?: string | false | undefined;
  /** Why it cannot be pressed. It can still be found by keyboard, so that the reason is read. */
  readonly refused?: string | undefined;
  readonly isBig?: boolean;
  readonly isPressed?: boolean;
  readonly onPress: () => void;
  readonly ref?: Ref<HTMLButtonElement>;
  readonly className?: string;
  readonly type?: 'button' | 'submit';
  readonly describedBy?: string | undefined;
};

export function Button(props: ButtonProps): ReactNode {
  const { children, kind = 'plain', icon, label, keys, busy, refused, isBig, isPressed, onPress, ref } = props;
  const why = useId();
  const isOff = refused !== undefined || Boolean(busy);
  const described = [refused === undefined ? undefined : why, props.describedBy].filter(Boolean).join(' ');
  return (
    <>
      <button
        ref={ref}
        type={props.type ?? 'button'}
        className={`button button-${kind}${isBig ? ' button-big' : ''}${children ? '' : ' button-icon'} ${props.className ?? ''}`}
        aria-disabled={isOff || undefined}
        aria-busy={busy ? true : undefined}
        aria-pressed={isPressed}
        aria-label={label}
        aria-describedby={described || undefined}
        title={refused ?? (children ? undefined : label)}
        onClick={(event) => {
          event.stopPropagation();
          if (isOff) return event.preventDefault();
          onPress();
        }}
      >
        {icon ? <Icon name={icon} /> : null}
        {children ? (
          <span className="button-words">
            <span className={busy ? 'button-under' : undefined}>{children}</span>
            {busy ? <span className="button-busy">{busy}</span> : null}
          </span>
        ) : null}
        {keys ? <Kbd keys={keys} /> : null}
      </button>
      {refused === undefined ? null : (
        <span id={why} className="unseen">
          {refused}
        </span>
      )}
    </>
  );
}

/** Copies the command that does the same. Without one there is nothing to copy, so it is not there. */
export function CopyCommand({
  command,
  isBare = false,
  label = 'Command',
}: {
  command: string | null;
  isBare?: boolean;
  label?: string;
}): ReactNode {
  const [isCopied, setCopied] = useState<boolean | null>(null);
  if (command === null) return null;
  const press = async (): Promise<void> => {
    setCopied(await copy(command));
    setTimeout(() => setCopied(null), 1_600);
  };
  const says = isCopied === null ? label : isCopied ? 'Copied' : 'Not allowed';
  return (
    <span className="copy-command" ref={carries(command)} data-copies="">
      {isBare ? (
        <Button
          kind="quiet"
          icon={isCopied ? 'check' : 'copy'}
          label={`Copy the command: ${inLine(command)}`}
          onPress={() => void press()}
        />
      ) : (
        <Button kind="quiet" icon={isCopied ? 'check' : 'copy'} onPress={() => void press()} describedBy={undefined}>
          <span title={inLine(command)}>{says}</span>
        </Button>
      )}
      <span className="unseen" role="status">
        {isCopied ? 'The command is copied.' : ''}
      </span>
    </span>
  );
}

/** One of a few, as one control. */
export function Segments<T extends string>({
  label,
  of,
  chosen,
  onChoose,
}: {
  label: string;
  of: readonly (readonly [value: T, says: string])[];
  chosen: T;
  onChoose: (value: T) => void;
}): ReactNode {
  return (
    <fieldset className="segments">
      <legend className="unseen">{label}</legend>
      {of.map(([value, says]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => onChoose(value)}>
          {says}
        </button>
      ))}
    </fieldset>
  );
}
