import fc from 'fast-check';
import { expect, test } from 'vitest';
import { knownValues, ValueFilter, withoutValues } from './credential.ts';

const RANDOM = 'zq8Kd02mXn4vTr7pLs1W';

test.each([
  ['MY_TOKEN', 'hunter2hunter2', true],
  ['NPMTOKEN', 'swordfish', true],
  ['DB_PASSWORD', 'correct horse battery', true],
  ['PGPASSWORD', 'p4ssw0rd', true],
  ['MYSQL_PWD', 'p4ssw0rd', true],
  ['SMTP_PASS', 'p4ssw0rd', true],
  ['SSHPASS', 'p4ssw0rd', true],
  ['STRIPE_KEY', 'aaaaaaaa', true],
  ['MINIO_ACCESSKEY', 'aaaaaaaa', true],
  ['GPG_PASSPHRASE', 'aaaaaaaa', true],
  ['BASIC_AUTH', 'ann:secret!', true],
  ['GOOGLE_CREDENTIALS', '{"a":"b"}', true],
  ['OPENAI_APIKEY', 'aaaaaaaa', true],
  ['FOO', RANDOM, true],
  ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', true],
  ['TOKEN_FILE', RANDOM, true],
  ['MY_TOKEN', 'short12', false],
  ['PWD', '/home/ann/project-2', false],
  ['OLDPWD', '/home/ann/project-2', false],
  ['SSH_AUTH_SOCK', '/tmp/ssh-abc/agent.1', false],
  ['GIT_AUTHOR_NAME', 'Ann Author', false],
  ['XAUTHORITY', '/home/ann/.Xauthority', false],
  ['MONKEY_BUSINESS', 'bananas-bananas', false],
  ['KEYBOARD', 'us-international', false],
  ['CACHE_BYPASS', 'everything', false],
  ['PATH', '/usr/local/bin:/usr/bin', false],
  ['TOKEN_URL', 'https://example.org/token', false],
  ['SECRET_NAME', 'prod-database', false],
  ['POSTGRES_PASSWORD', 'postgres', false],
  ['API_KEY', 'undefined', false],
  ['HOSTNAME', 'Annas-MacBook-Pro-2', false],
  ['GITHUB_SHA', '9f8a4c1d2e3b4a5f6c7d8e9f0a1b2c3d4e5f6a7b', false],
])('%s=%s is a secret: %s', (name, value, isSecret) => {
  const values = knownValues({ [name]: value, OTHER: 'x' });
  expect(values.includes(value)).toBe(isSecret);
  expect(values.length > 0).toBe(isSecret);
});

test('only the named variables count, the longest value comes first, and each is known as JSON writes it too', () => {
  const env = { A_KEY: 'aaaaaaaa', B_KEY: 'aaaaaaaab', C_KEY: 'say "it"\n12', D_KEY: undefined };
  const found = knownValues(env, ['A_KEY', 'B_KEY', 'MISSING_KEY', 'D_KEY']);
  expect(found.filter((value) => /^a+b?$/.test(value))).toEqual(['aaaaaaaab', 'aaaaaaaa']);
  expect(found.map(({ length }) => length)).toEqual(found.map(({ length }) => length).sort((a, b) => b - a));
  expect(knownValues(env, ['C_KEY']).filter((value) => value.startsWith('say '))).toEqual([
    ...['say \\"it\\"\\n12', 'say "it"\n12'],
  ]);
  expect(knownValues({ A_KEY: ' aaaaaaaa\n' })).toContain('aaaaaaaa');
});

test('every place of every value is hidden, whatever signs it holds', () => {
  expect(withoutValues('a(b)*[c] $^ a(b)*[c]d', ['a(b)*[c]'])).toBe('[secret:env] $^ [secret:env]d');
  expect(withoutValues('as it is', [])).toBe('as it is');
  expect(withoutValues('x aaaaaaaab aaaaaaaa aaaaaaaa', ['aaaaaaaab', 'aaaaaaaa'])).toBe(
    'x [secret:env] [secret:env] [secret:env]',
  );
});

test('what comes in pieces is filtered like the whole, and nothing else is held back', () => {
  const values = ['aabaabaac', 'secret12z', 'secret12', 'tsecret.'];
  const piece = fc.constantFrom('a', 'ab', 'aabaabaac', 'secret', '12', 'z', 't', '.', 'secret12', 'x', '\n');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const filter = new ValueFilter(values);
      const out = pieces.map((each) => filter.take(each)).join('') + filter.end();
      expect(out).toBe(withoutValues(pieces.join(''), values));
    }),
    { numRuns: 2000 },
  );
  const filter = new ValueFilter(values);
  expect([filter.take('prompt> '), filter.take('sec'), filter.take('ond'), filter.end()]).toEqual([
    'prompt> ',
    '',
    'second',
    '',
  ]);
});
