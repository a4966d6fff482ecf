// Drafts from a sentence, by the person's own agent: a loadout with its prompts, or the prompt of one role. They are shown before
// anything is written, and drafted again or dropped as often as the person likes.
import { type ReactNode, useState } from 'react';
import { call, type Refusal } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { AreaField } from '../parts/fields.tsx';
import { Foreign, ForeignLines } from '../parts/text.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { useMay } from '../workspace.ts';

type DraftFile = { readonly path: string; readonly text: string };
export type LoadoutDraft = { readonly name: string; readonly files: readonly DraftFile[] };
type Drafted = { readonly draft: LoadoutDraft; readonly runner: string };

type Asking = {
  readonly drafted: Drafted | null;
  readonly refusal: Refusal | null;
  readonly isBusy: boolean;
  readonly ask: (sentence: string, name?: string) => Promise<Drafted | null>;
  readonly drop: () => void;
};

export function useDrafting(): Asking {
  const [drafted, setDrafted] = useState<Drafted | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isBusy, setBusy] = useState(false);
  return {
    ...{ drafted, refusal, isBusy },
    drop: () => setDrafted(null),
    ask: async (sentence, name) => {
      setBusy(true);
      const answer = await call<Drafted>('loadout.draft', { sentence, ...(name ? { name } : {}) });
      setBusy(false);
      setRefusal(answer.allow ? null : answer);
      setDrafted(answer.allow ? answer.details : null);
      return answer.allow ? answer.details : null;
    },
  };
}

/** A sentence, and the files that an agent makes of it. */
export function DraftLoadout({ name, onWritten }: { name: string; onWritten: (loadout: string) => void }): ReactNode {
  const [sentence, setSentence] = useState('');
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isWriting, setWriting] = useState(false);
  const drafting = useDrafting();
  const mayDraft = useMay()('loadout.draft');
  if (!mayDraft) return null;
  const { drafted } = drafting;
  const write = async (): Promise<void> => {
    if (!drafted) return;
    setWriting(true);
    const answer = await call('loadout.apply', { draft: drafted.draft, yes: true });
    setWriting(false);
    if (answer.allow) onWritten(drafted.draft.name);
    else setRefusal(answer);
  };
  return (
    <div className="drafting">
      <AreaField
        label="Or describe it, and your own agent drafts it"
        value={sentence}
        onChange={setSentence}
        rows={3}
        placeholder="two reviewers judge each change, one of them for security"
        hint="This asks an agent once and costs tokens. Nothing is written before you say so."
      />
      <div className="try-acts">
        <Button
          busy={drafting.isBusy && 'Drafting…'}
          refused={sentence.trim() === '' ? 'Write a sentence first.' : undefined}
          onPress={() => void drafting.ask(sentence, /^[a-z][a-z0-9-]{0,39}$/.test(name) ? name : undefined)}
        >
          {drafted ? 'Draft it again' : 'Draft it'}
        </Button>
        {drafted ? (
          <>
            <Button kind="primary" busy={isWriting && 'Writing…'} onPress={() => void write()}>
              Write {drafted.draft.files.length} files
            </Button>
            <Button kind="quiet" onPress={drafting.drop}>
              Drop the draft
            </Button>
          </>
        ) : null}
      </div>
      {drafting.refusal ? <RefusalBlock refusal={drafting.refusal} /> : null}
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      {drafted ? <DraftFiles files={drafted.draft.files} runner={drafted.runner} /> : null}
    </div>
  );
}

function DraftFiles({ files, runner }: { files: readonly DraftFile[]; runner: string }): ReactNode {
  return (
    <div className="draft-files">
      <p className="quiet">
        <Foreign text={runner} /> drafted this. It is not written yet.
      </p>
      {files.map(({ path, text }) => (
        <figure key={path}>
          <figcaption>
            <code>
              <Foreign text={path} />
            </code>
          </figcaption>
          <pre className="try-text" tabIndex={0} role="region" aria-label={path}>
            <ForeignLines text={text} />
          </pre>
        </figure>
      ))}
    </div>
  );
}

/** The prompt of a role from a sentence: the first prompt of a draft of one agent. */
export function DraftRole({ sentence, onTake }: { sentence: string; onTake: (prompt: string) => void }): ReactNode {
  const drafting = useDrafting();
  const mayDraft = useMay()('loadout.draft');
  if (!mayDraft) return null;
  const prompt = drafting.drafted?.draft.files.find(({ path }) => path.startsWith('prompts/'));
  return (
    <div className="drafting">
      <div className="try-acts">
        <Button
          busy={drafting.isBusy && 'Drafting…'}
          refused={sentence.trim() === '' ? 'Say first what it does.' : undefined}
          onPress={() => void drafting.ask(`One step with one agent, whose role is: ${sentence}`)}
        >
          {prompt ? 'Draft it again' : 'Draft its prompt from this'}
        </Button>
        {prompt ? (
          <>
            <Button
              onPress={() => {
                onTake(prompt.text.trim());
                drafting.drop();
              }}
            >
              Use this prompt
            </Button>
            <Button kind="quiet" onPress={drafting.drop}>
              Drop it
            </Button>
          </>
        ) : null}
      </div>
      {drafting.refusal ? <RefusalBlock refusal={drafting.refusal} /> : null}
      {prompt ? <DraftFiles files={[prompt]} runner={drafting.drafted?.runner ?? ''} /> : null}
      {drafting.drafted && !prompt ? (
        <p className="form-note">The draft has no prompt. Say it in other words.</p>
      ) : null}
    </div>
  );
}
