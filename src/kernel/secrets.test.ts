import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { findSecrets, scrub, scrubJson } from './secrets.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 500);
// Assembled from pieces, so that no scanner takes this file for a leak.
const join = (...parts: readonly string[]) => parts.join('');
const A20 = 'a1B2c3D4e5F6g7H8i9J0';
const BODY = 'MIIEowIBAAKCAQEAxJ0m'.repeat(3);
const KEY_HEAD = join('-----BEGIN RSA ', 'PRIVATE KEY-----');
const KEY_END = join('-----END RSA ', 'PRIVATE KEY-----');
const HEX32 = '0123456789abcdef0123456789abcdef';

test.each([
  ['aws-key', join('AKIA', 'IOSFODNN7EXAMPLE')],
  ['aws-key', join('ASIA', 'IOSFODNN7EXAMPLE')],
  ['anthropic-key', join('sk-', 'ant-api03-', A20, '-', A20)],
  ['openrouter-key', join('sk-', 'or-v1-', HEX32)],
  ['openai-key', join('sk-', A20)],
  ['openai-key', join('sk-', 'proj-', A20, '_', A20)],
  ['github-token', join('ghp', '_', A20, A20)],
  ['github-token', join('github', '_pat_', A20, '_', A20)],
  ['gitlab-token', join('glpat', '-', A20)],
  ['slack-token', join('xoxb', '-123456789012-', A20)],
  ['slack-webhook', join('https://hooks.slack', '.com/services/T00000000/B00000000/', A20)],
  ['google-key', join('AIza', A20, A20).slice(0, 39)],
  ['google-key', join('ya29', '.', A20, A20)],
  ['stripe-key', join('sk_', 'live_', A20)],
  ['stripe-key', join('rk_', 'test_', A20)],
  ['npm-token', join('npm', '_', A20, A20).slice(0, 40)],
  ['pypi-token', join('pypi', '-AgEIcHlwaS5vcmc', A20, A20)],
  ['huggingface-token', join('hf', '_', A20, A20)],
  ['sendgrid-key', join('SG', '.', A20, '.', A20)],
  ['twilio-key', join('SK', HEX32)],
  ['digitalocean-token', join('dop', '_v1_', HEX32, HEX32)],
  ['shopify-token', join('shpat', '_', HEX32)],
  ['groq-key', join('gsk', '_', A20, A20)],
  ['xai-key', join('xai', '-', A20, A20)],
  ['perplexity-key', join('pplx', '-', A20, A20)],
  ['replicate-token', join('r8', '_', A20, A20)],
  ['databricks-token', join('dapi', HEX32)],
  ['docker-token', join('dckr', '_pat_', A20)],
  ['linear-key', join('lin', '_api_', A20)],
  ['atlassian-token', join('ATATT3', A20, A20, '=')],
  ['vault-token', join('hvs', '.', A20)],
  ['doppler-token', join('dp', '.pt.', A20)],
  ['planetscale-token', join('pscale', '_tkn_', A20)],
  ['telegram-token', join('123456789', ':AA', A20, A20)],
  ['age-key', join('AGE-SECRET', '-KEY-1', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ')],
  ['baton-token', join('baton', '_', A20, A20, 'a_-')],
  ['jwt', join('eyJ', 'hbGciOiJIUzI1NiJ9.', 'eyJ', 'zdWIiOiIxMjMifQ.', A20)],
  ['private-key', join('-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA ', 'PRIVATE KEY-----')],
  [
    'private-key',
    join('-----BEGIN PGP ', 'PRIVATE KEY BLOCK-----\nVersion: 2\n\nlQOY\n-----END PGP PRIVATE KEY BLOCK-----'),
  ],
  ['private-key', join('-----BEGIN OPENSSH ', 'PRIVATE KEY-----')],
])('%s is found whole, alone and inside prose: %s', (kind, secret) => {
  const hidden = secret.startsWith('https://') ? secret.slice(8) : secret;
  expect(findSecrets(secret).map((found) => found.kind)).toEqual([kind]);
  const { text } = scrub(`The run used ${secret}, then it stopped.`);
  expect(text).not.toContain(hidden);
  expect(text).toContain(`[secret:${kind}], then it stopped.`);
});

test.each([
  ['a longer key is hidden to its end', join('sk-', 'ant-', 'a1'.repeat(500)), '[secret:anthropic-key]'],
  ['a quoted value of 300 characters', `password: "${A20.repeat(15)}" end`, 'password: "[secret:credential]" end'],
  [
    'a quoted value with blanks beyond the part that is judged',
    `password: "${A20.repeat(14)} and ${A20}" end`,
    'password: "[secret:credential]" end',
  ],
  ['a long quoted value without its end', `password: "${A20.repeat(15)}\nend`, 'password: "[secret:credential]\nend'],
  ['a long value without quotes', `token=${A20.repeat(15)} end`, 'token=[secret:credential] end'],
  ['a quoted value with an escaped quote', '"password": "ab\\"c1\\\\", 1', '"password": "[secret:credential]", 1'],
  [
    'an escaped quote in JSON inside a string',
    '{\\"password\\": \\"a1\\\\\\"b2\\", \\"n\\": 1}',
    '{\\"password\\": \\"[secret:credential]\\", \\"n\\": 1}',
  ],
  ['a bearer value of 300 characters', `bearer ${A20.repeat(15)} end`, 'bearer [secret:bearer-token] end'],
  ['a long value that is only said', `the token is ${A20.repeat(15)} end`, 'the token is [secret:credential] end'],
  [
    'the body of a private key without its END line',
    `${KEY_HEAD}\n${BODY}\n${BODY}==\nThen it stopped.`,
    '[secret:private-key]\nThen it stopped.',
  ],
  ['such a body with escaped line breaks', `${KEY_HEAD}\\n${BODY}\\r\\n${BODY}\\n`, '[secret:private-key]\\n'],
  [
    'the body of a key whose END line is too far away',
    `${KEY_HEAD}\n${BODY}\n${'x '.repeat(10_001)}${KEY_END}`,
    `[secret:private-key]\n${'x '.repeat(10_001)}${KEY_END}`,
  ],
  [
    'two keys, each to its own END line',
    `${KEY_HEAD}\nshort\n${KEY_END} and ${KEY_HEAD}\nshort\n${KEY_END}.`,
    '[secret:private-key] and [secret:private-key].',
  ],
  ['a bearer value', `Authorization: Bearer ${A20}`, 'Authorization: Bearer [secret:bearer-token]'],
  ['a bearer value without its header', `curl with bearer ${A20}`, 'curl with bearer [secret:bearer-token]'],
  ['basic credentials', 'authorization: Basic dXNlcjpwYXNz', 'authorization: Basic [secret:bearer-token]'],
  ['a password in an address', 'postgres://app:hunter2@db/x', 'postgres://app:[secret:url-password]@db/x'],
  ['a short assignment', 'token=zz', 'token=[secret:credential]'],
  ['a word after a colon', 'Secret : swordfish', 'Secret : [secret:credential]'],
  ['a prefixed name', 'DB_TOKEN=abc', 'DB_TOKEN=[secret:credential]'],
  ['a name in capitals and small letters', 'clientSecret = s3cr3tvalue', 'clientSecret = [secret:credential]'],
  ['password', 'password=hunter2 works', 'password=[secret:credential] works'],
  ['access_token', 'access_token: 9xYz77', 'access_token: [secret:credential]'],
  ['a JSON member', '{"api_key": "abc123", "n": 1}', '{"api_key": "[secret:credential]", "n": 1}'],
  ['JSON inside a string', '{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[secret:credential]\\"}'],
  ['a passphrase', 'passphrase: "correct horse battery staple"', 'passphrase: "[secret:credential]"'],
  ['a Ruby hash', "'password' => 'hunter2'", "'password' => '[secret:credential]'"],
  ['an AWS secret', `AWS_SECRET_ACCESS_KEY=${A20}/${A20}`, 'AWS_SECRET_ACCESS_KEY=[secret:credential]'],
  ['a query', '/cb?token=abc123&x=1', '/cb?token=[secret:credential]&x=1'],
  ['a value that is only said', `the token is ${A20} for now`, 'the token is [secret:credential] for now'],
  ['hex digits after the word', `secret ${HEX32} works`, 'secret [secret:credential] works'],
  ['hex digits after two words', `Use api key ${HEX32}.`, 'Use api key [secret:credential]'],
  ['hex digits that are said to be it', `the password is ${HEX32}`, 'the password is [secret:credential]'],
  [
    'hex digits after a sentence about a hash',
    `The hash fits. Token ${HEX32}`,
    'The hash fits. Token [secret:credential]',
  ],
  [
    'hex digits in a sentence about a commit',
    `The commit uses api key ${HEX32}`,
    'The commit uses api key [secret:credential]',
  ],
  [
    'hex digits long after a commit',
    `After the commit I used secret ${HEX32} for CI`,
    'After the commit I used secret [secret:credential] for CI',
  ],
  [
    'hex digits three words after a hash',
    `hash of the last used token ${HEX32}`,
    'hash of the last used token [secret:credential]',
  ],
  ['a bearer value of letters', 'Bearer abcdefghijklmnop', 'Bearer [secret:bearer-token]'],
  ['a bearer value of letters, both cases', 'bearer: AbCdEfGhIjKlMnOpQrStUv', 'bearer: [secret:bearer-token]'],
  ['a long bearer value that ends like a word', 'bearer AbCdEfGhIjKlMnOpQrStUvtion', 'bearer [secret:bearer-token]'],
  ['a known key inside a quoted value', `password="x-sk-${'ant'}-${A20}"`, 'password="[secret:anthropic-key]"'],
  ['an assignment inside the password of an address', 'https://u:token=abc123@db/x', 'https://u:[secret:url-password]'],
  [
    'a header in a sentence',
    'Authorization: Bearer swordfish is used',
    'Authorization: Bearer [secret:bearer-token] is used',
  ],
  ['api_key, whatever follows', 'api_key: foobar is set', 'api_key: [secret:credential] is set'],
  ['api-key, whatever follows', 'the api-key: foobar is set', 'the api-key: [secret:credential] is set'],
  ['apikey, whatever follows', 'apikey: foobar is set', 'apikey: [secret:credential] is set'],
  ['apiKey, whatever follows', 'apiKey: foobar is set', 'apiKey: [secret:credential] is set'],
  ['access_key, whatever follows', 'access_key : foobar is set', 'access_key : [secret:credential] is set'],
  ['client_secret, whatever follows', 'client_secret: foobar is set', 'client_secret: [secret:credential] is set'],
  ['clientSecret, whatever follows', 'clientSecret: foobar is set', 'clientSecret: [secret:credential] is set'],
  ['auth_token, whatever follows', 'auth_token: foobar is set', 'auth_token: [secret:credential] is set'],
  ['auth-token, whatever follows', 'x-auth-token: foobar is set', 'x-auth-token: [secret:credential] is set'],
  [
    'access_token, whatever follows',
    'access_token: foobar for staging',
    'access_token: [secret:credential] for staging',
  ],
  ['private_key, whatever follows', 'private_key: foobar is set', 'private_key: [secret:credential] is set'],
  ['password, whatever follows', 'The password: swordfish works now', 'The password: [secret:credential] works now'],
  ['passwd, whatever follows', 'passwd: swordfish works now', 'passwd: [secret:credential] works now'],
  ['pwd, whatever follows', 'pwd: swordfish works now', 'pwd: [secret:credential] works now'],
  ['a password of digits', 'password: 271828 works now', 'password: [secret:credential] works now'],
  ['one word, then a comma', 'Secret : swordfish, rotate it', 'Secret : [secret:credential], rotate it'],
  ['one word, then a full stop', 'token: abcdef. Then go on', 'token: [secret:credential]. Then go on'],
  ['one word, then a bracket', '(the token: abcdef) was used', '(the token: [secret:credential]) was used'],
  ['one word, then a line', 'token: abcdef\nwas used', 'token: [secret:credential]\nwas used'],
  ['a known key in an assignment', join('api_key=sk-', 'ant-', A20), 'api_key=[secret:anthropic-key]'],
  ['a UUID that is assigned', 'token=550e8400-e29b-41d4-a716-446655440000', 'token=[secret:credential]'],
])('%s', (_what, text, expected) => {
  expect(scrub(text).text).toBe(expected);
});

test.each([
  'secrets: none',
  'token: not required',
  'Token: must be rotated every 90 days',
  'password: at least 12 characters, hashed with bcrypt',
  'Password rules: the secret is never logged and the token expires after an hour.',
  'API key: see the vault',
  'token = getToken()',
  'const token = user.token;',
  'let password = PASSWORD',
  'token === other',
  'secret => x1y2z3(secret)',
  'token => a1b2c3d4',
  'tokens.map((token) => token.value)',
  'password: string',
  'apiKey: KeyObject',
  '"token": "string"',
  '"password": "The password of the user"',
  'password=$DB_PASSWORD',
  join('password=$', '{DB_PASSWORD}'),
  'token=<your token>',
  'token={{token}}',
  'api_key=YOUR_API_KEY',
  'api_key=your-key-here',
  'password=********',
  'secret=process.env.SECRET',
  'Authorization: Bearer <token>',
  'Authorization: Bearer tokens are supported',
  'The bearer responsibilities of the bearer authentication-framework',
  'max_tokens: 4096, total_tokens=81234',
  'token_count: 12',
  'PWD=/home/user',
  'password: src/auth/password.ts',
  'token: https://example.org/docs/token',
  'the token in commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is gone',
  'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'password_hash: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  `the hash of the token ${HEX32}`,
  `the token hash ${HEX32}, the secret's sha256 ${HEX32}`,
  `sha256 of the secret is ${HEX32}`,
  `digest of the signing-key ${HEX32}`,
  `checksum for the token ${HEX32} and fingerprint of the access-key ${HEX32}`,
  'token 9fceb02 and token 0123456789abcdef',
  'run 550e8400-e29b-41d4-a716-446655440000 done',
  'run_id 550e8400-e29b-41d4-a716-446655440000, token 550e8400-e29b-41d4-a716-446655440000',
  'index 83db48f..bf2a1c9 100644, T-12, v1.2.3, 2026-02-11T00:45:02Z',
  'task-force-of-many-words and sk-fading-circle-container',
  'https://example.org:8080/a@b',
  'postgres://user:password@localhost/db',
  'git@github.com:owner/name.git',
  '-----BEGIN PUBLIC KEY-----',
  'The header BEGIN RSA PRIVATE KEY is refused by the scanner',
  'Password: minimum 12 characters',
  'Token: lifetime 15 minutes, then a new one',
  'No conflicts, ready for merge',
  'token: abcdef for staging goes on as a sentence',
  'The secret: people rarely read the manual',
  'password: required',
  'password: string | null',
  'password: string[]',
  'password: Uint8Array',
  'password: SecretText, hashed at once',
  'api_key: <your key>',
  'api_key: see the vault',
  'api-key: rotated by the platform team every month',
  join('password: $', '{DB_PASSWORD}'),
  'password: process.env.DB_PASSWORD',
  'password: config.database.password',
  'password: ./run/secrets/db_password',
  'private_key: /etc/ssl/private/server.key',
  'private_key: !vault |',
  'password: users must choose a new one',
  'Password: choose a strong one, then confirm it',
  'password: weak, ask the user for another',
  'password: hashed with argon2 before it is stored',
  'password: validated against the policy in docs/policy.md',
  'passwd: not used since the move to single sign-on',
  'password: 12 characters at least',
  'password: ≥12 characters',
  'auth_token: comes from the environment, never from the config',
  'access_token: expires after fifteen minutes',
  'access_token: nullable, because guests have none',
  'client_secret: stored in the vault, read at start',
  'private_key: generated on first start',
  'Password: enter it twice',
  'Password: another mail is sent when it is wrong',
  'Fixed the password: nobody could log in without resetting it',
  'Known problem with the token: refresh happens too late',
  'Two kinds of token: opaque, and signed',
  'Open question about the secret: where does it live?',
  'Acceptance: login form has fields user: text, password: text',
  'Authorization: Basic authentication is switched off',
  `fingerprint of the token is ${HEX32}, the hash for this password ${HEX32}`,
])('not a secret: %s', (text) => {
  expect(scrub(text)).toEqual({ text, found: [] });
});

test('values in a tree are scrubbed, keys too, and the value of a credential key whole', () => {
  const key = join('AKIA', 'IOSFODNN7EXAMPLE');
  const value = { db: { password: 'hunter2', host: 'db' }, log: [`used ${key}`, 'fine'], [key]: 1, token: null };
  expect(scrubJson(value)).toEqual({
    value: {
      db: { password: '[secret:credential]', host: 'db' },
      log: ['used [secret:aws-key]', 'fine'],
      '[secret:aws-key]': 1,
      token: null,
    },
    found: [
      { path: '$.db.password', kind: 'credential' },
      { path: '$.log[0]', kind: 'aws-key' },
      { path: '$', kind: 'aws-key' },
    ],
  });
});

test('two keys that become the same marker are both kept', () => {
  const [one, two] = [join('AKIA', 'IOSFODNN7EXAMPLE'), join('AKIA', 'IOSFODNN7EXAMPLF')];
  expect(scrubJson({ [one]: 1, [two]: 2 }).value).toEqual({ '[secret:aws-key]': 1, '[secret:aws-key] 2': 2 });
});

test('a value deeper than anything that is read is not handed on', () => {
  let deep: Json = 'password=hunter2';
  for (let level = 0; level < 500; level++) deep = [deep];
  expect(JSON.stringify(scrubJson(deep).value)).toContain('[secret:credential]');
  const { value, found } = scrubJson([deep]);
  expect([JSON.stringify(value).includes('[secret:unseen]'), found[0]?.kind]).toEqual([true, 'unseen']);
  expect(JSON.stringify(value)).not.toContain('hunter2');
});

test('a value without secrets is returned as it is', () => {
  const value = { a: ['b', { c: 'd' }] };
  expect(scrubJson(value).value).toBe(value);
});

const HARD = [
  join('sk-', 'ant-', 'a'.repeat(16), '-'),
  '-eyJ',
  'eyJaaaaaaaa.',
  'token=',
  'token=$',
  'token="',
  'password: a',
  'bearer a1',
  'bearer ',
  `token is ${A20}`,
  'a://b:c',
  'a://',
  join('-----BEGIN ', 'PRIVATE KEY-----'),
  '-----END PRIVATE KEY-----',
  '-',
  'A',
  '"',
  '\\',
  'secret key key ',
  'api_key: a ',
  'x_token: a, ',
  'authorization: bearer abcdef ',
];
test.each(HARD)('takes linear time on many of %j', { timeout: 60_000 }, (piece) => {
  const text = piece.repeat(Math.ceil(400_000 / piece.length));
  const started = performance.now();
  findSecrets(text);
  expect(performance.now() - started).toBeLessThan(60_000);
});

test('findings are in order, apart and inside the text, and scrubbing twice is scrubbing once', {
  timeout: 600_000,
}, () => {
  const piece = fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(...HARD, A20, 'password', ' ', ':', '=', '\n'));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join(' ');
      let from = 0;
      for (const { start, end } of findSecrets(text)) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThan(start);
        from = end;
      }
      expect(from).toBeLessThanOrEqual(text.length);
      const once = scrub(text).text;
      expect(scrub(once).text).toBe(once);
    }),
    { numRuns: RUNS },
  );
});
