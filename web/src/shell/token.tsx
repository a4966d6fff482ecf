// The page without a token: it says where one comes from, and takes one.
import { type ReactNode, useState } from 'react';
import { keepToken, type Refusal } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/fields.tsx';
import { Mark } from '../parts/glyphs.tsx';
import { RefusalBlock } from '../parts/verdict.tsx';
import { open } from '../workspace.ts';

export function AskToken({ refusal }: { refusal: Refusal | null }): ReactNode {
  const [token, setToken] = useState('');
  const enter = (): void => {
    keepToken(token);
    void open();
  };
  return (
    <main className="ask-token">
      <Mark />
      <h1>This page needs a token</h1>
      <p>
        Run <code>baton ui</code> in the project. It opens this page with a token of yours. A token from{' '}
        <code>baton token create</code> works, too.
      </p>
      {refusal ? <RefusalBlock refusal={refusal} /> : null}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token.trim() !== '') enter();
        }}
      >
        <TextField label="Token" type="password" value={token} onChange={setToken} isMono />
        <Button kind="primary" refused={token.trim() === '' ? 'Paste a token first.' : undefined} onPress={enter}>
          Open
        </Button>
      </form>
    </main>
  );
}
