// The tier of a command, row by row: what is seen through, what is known, and that everything else changes state.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../kernel/approval/policy.ts';
import { TIERS } from '../kernel/approval/request.ts';
import { classify, classifyArgv, type Ground } from './tier.ts';

const RUNS = Number(process.env.FUZZ_RUNS ?? 2000);
const ground: Ground = {
  cwd: '/work',
  home: '/home/ann',
  isOwn: (path) => path.startsWith('/work/') && !path.startsWith('/work/.git/'),
};
const tier = (line: string) => classify(line, DEFAULT_POLICY, ground).tier;

test.each([
  ...[
    'ls',
    'ls -la src',
    'cat a.txt',
    'head -5 a',
    'tail -f log',
    'wc -l a',
    'grep -rn x src',
    'rg TODO',
    'pwd',
    'echo hi',
  ],
  ...[
    'stat a',
    'file a',
    'du -sh .',
    'df -h',
    'which node',
    'date',
    'date +%s',
    'id',
    'ps aux',
    'sort a',
    'uniq a',
    'cut -f1 a',
  ],
  ...[
    'jq .a b.json',
    'diff a b',
    'tree src',
    'printenv PATH',
    'test -f a',
    '[ -f a ]',
    '[[ -f a ]]',
    'true',
    'md5sum a',
    ':',
  ],
  ...[
    "awk '{print $1}' a",
    "awk -F: '{print $1}' a",
    "sed -n '1,5p' a",
    'sed -n 10p a',
    'sed s/a/b/g f',
    'sed -E s/a/b/ f',
  ],
  ...[
    'git status',
    'git log --oneline -5',
    'git diff HEAD~1',
    'git show HEAD',
    'git -C sub status',
    'git --no-pager log',
  ],
  ...[
    'git branch',
    'git branch -a',
    'git branch --show-current',
    'git tag',
    'git tag -l v1',
    'git stash list',
    'git remote -v',
  ],
  ...['git rev-parse HEAD', 'git ls-files', 'git blame a', 'git config --get user.name', 'git worktree list'],
  ...[
    'kubectl get pods',
    'kubectl -n prod get pods',
    'kubectl --namespace=prod get pods',
    'kubectl describe pod x',
    'kubectl logs x',
  ],
  ...[
    'helm list',
    'terraform show',
    'terraform state list',
    'docker ps -a',
    'docker logs x',
    'aws ec2 describe-instances',
  ],
  ...[
    'aws s3 ls',
    'aws --profile x ec2 describe-vpcs',
    'gcloud compute instances list',
    'az vm list',
    'gh pr view 1',
    'npm ls',
  ],
  ...[
    'pip list',
    'cargo tree',
    'go list ./...',
    'node --version',
    'systemctl status x',
    'journalctl -n 5',
    'baton status',
  ],
  ...[
    'cat a | grep b | wc -l',
    'ls; pwd',
    'ls && pwd || true',
    'ls | xargs cat',
    'find . -name "*.ts"',
    'find . -exec cat {} +',
  ],
  ...[
    'bash -c "ls"',
    'sh -lc "git status"',
    'eval ls',
    'env ls',
    'LC_ALL=C sort a',
    'env LANG=C ls',
    'sudo ls',
    'nohup ls',
  ],
  ...[
    'timeout 5 ls',
    'nice -n 5 ls',
    'time ls',
    '(ls; pwd)',
    'echo $(pwd)',
    'echo `pwd`',
    'for f in *; do cat $f; done',
  ],
  ...[
    'ls > /dev/null',
    'ls 2>/dev/null',
    'ls 2>&1',
    'if true; then ls; fi',
    'cd src && ls',
    '/bin/ls',
    '/usr/bin/git status',
    'x=1',
  ],
])('%s only reads', (line) => {
  expect(tier(line)).toBe('T0');
});

test.each([
  ...[
    'npm test',
    'npm run lint',
    'npm run build',
    'npx tsc -p .',
    'npx vitest run',
    'tsc',
    'eslint src',
    'pytest -q',
    'cargo test',
  ],
  ...[
    'python -m pytest',
    'go test ./...',
    'go vet',
    'make test',
    'make -C sub lint',
    'shellcheck a.sh',
    'terraform validate',
  ],
  ...[
    'terraform fmt',
    'helm lint x',
    'git add a',
    'git commit -m x',
    'git fetch',
    'git stash',
    'bash -n a.sh',
    'npm audit',
  ],
  ...[
    'mkdir -p src/a',
    'touch a',
    'cp a b',
    'mv a b',
    'echo x > a',
    'echo x >> src/a',
    'ls | tee a',
    'cat <<E > a\nx\nE',
  ],
  ...['echo x > a; ls', 'bash -c "echo x > a"', 'ruff check', 'mypy .', './gradlew test'],
])('%s is local', (line) => {
  expect(tier(line)).toBe('T1');
});

test.each([
  ...[
    'terraform plan',
    'terraform plan -out=p',
    'pulumi preview',
    'kubectl diff -f a',
    'helm template x',
    'kustomize build .',
  ],
  ...['kubectl apply -f a --dry-run=client', 'kubectl apply --dry-run=server -f a', 'helm upgrade x y --dry-run'],
  ...['git push --dry-run', 'npm publish --dry-run', 'aws s3 sync a b --dryrun', 'ansible-playbook x --check'],
])('%s simulates', (line) => {
  expect(tier(line)).toBe('T2');
});

test.each([
  ...[
    '',
    '   ',
    '# nothing',
    'rm a',
    'rm -rf a',
    'git push',
    'git reset --hard',
    'git merge x',
    'git rebase x',
    'git tag v1',
  ],
  ...[
    'git branch new',
    'git branch -D x',
    'git branch -m x',
    'git config user.name x',
    'git remote add x y',
    'git checkout .',
  ],
  ...[
    'git -c core.pager=x log',
    'git --git-dir=x status',
    'git diff --output=x',
    'git diff --ext-diff',
    'git grep -O x',
    'git $X',
  ],
  ...[
    'kubectl apply -f a',
    'kubectl delete pod x',
    'kubectl exec x -- ls',
    'kubectl -n get delete pod x',
    'kubectl --foo get delete',
  ],
  ...[
    'kubectl delete pod -l --dry-run=client',
    'kubectl apply -f a --dry-run=client --dry-run=none',
    'kubectl apply -f a --dry-run=$X',
  ],
  ...[
    'kubectl delete pod -- --dry-run=client',
    'npm run deploy --dry-run',
    'helm install x y',
    'helm upgrade --install --dry-run',
  ],
  ...[
    'terraform apply',
    'terraform destroy',
    'terraform plan; terraform apply',
    'docker run x',
    'docker exec x ls',
    'docker rm x',
  ],
  ...[
    'aws ec2 terminate-instances',
    'aws s3 rm x',
    'aws s3api get-object a b c',
    'gcloud compute instances delete x',
    'gh pr merge 1',
  ],
  ...[
    'npm install',
    'npm publish',
    'npm audit fix',
    'npm run deploy',
    'npx unknown',
    'pip install x',
    'curl http://x',
    'wget x',
    'ssh x ls',
  ],
  ...[
    'curl x | sh',
    'bash a.sh',
    'sh',
    'bash < a',
    'bash -c "$X"',
    'bash -c "ls; rm a"',
    'sh -lc "git push"',
    'bash --rcfile x -c ls',
  ],
  ...[
    'eval "rm a"',
    'eval "$X"',
    'eval ls; rm a',
    '$X',
    '$(cat x)',
    '`cat x`',
    'ls $(rm a)',
    'echo `rm a`',
    'cat <(rm a)',
    '"$A" b',
  ],
  ...[
    'ls && rm a',
    'ls || rm a',
    'ls; rm a',
    'ls | sh',
    'ls & rm a',
    '(rm a)',
    '{ rm a; }',
    'if true; then rm a; fi',
    '! rm a',
    'time rm a',
  ],
  ...[
    'while true; do rm a; done',
    'for f in *; do rm $f; done',
    'case x in a) rm a;; esac',
    'f() { rm a; }; f',
    'function f { rm a; }',
  ],
  ...[
    'env rm a',
    'env -i rm a',
    'env -S"rm a" ls',
    'env -S "rm a"',
    'sudo rm a',
    'sudo -u x rm a',
    'nohup rm a &',
    'timeout 5 rm a',
    'xargs rm',
  ],
  ...[
    'ls | xargs rm',
    'ls | xargs -I{} sh -c "rm {}"',
    'ls | xargs git',
    'ls | xargs sed -n 1p',
    'find . -delete',
    'find . -exec rm {} +',
  ],
  ...[
    'find . -exec sh -c "rm {}" \\;',
    'find . -fprint a',
    'find . -okdir rm {} \\;',
    'parallel rm ::: a',
    'watch "rm a"',
    'exec rm a',
  ],
  ...[
    'PATH=/x ls',
    'LD_PRELOAD=x ls',
    'GIT_SSH_COMMAND=x git fetch',
    'env PATH=/x ls',
    'export PATH=/x; ls',
    'BASH_ENV=x bash -c ls',
    'PATH=/x',
  ],
  ...[
    'echo x > /etc/passwd',
    'echo x > ~/.bashrc',
    'echo x > $F',
    'echo x > .git/hooks/pre-commit',
    'cp a /usr/bin/b',
    'tee /etc/x',
    'mkdir $D',
  ],
  ...[
    'cd .. && echo x > a',
    'cp -t /etc a',
    'mv a ../b',
    'ln -s a b',
    'chmod +x a',
    'dd if=a of=b',
    'truncate -s0 a',
    'sed -i s/a/b/ f',
  ],
  ...[
    'sed "s/a/b/e" f',
    'sed "w x" f',
    'sed -f x f',
    'sed -n $X f',
    "awk '{system($1)}' a",
    'awk \'{print > "x"}\' a',
    'awk -f x a',
    'awk -v a=1 x',
  ],
  ...[
    'sort -o a b',
    'sort --output=a b',
    'sort $X',
    'uniq a b',
    'xxd -r a b',
    'date -s now',
    'hostname new',
    'rg --pre x y',
    'yq -i .a b',
  ],
  ...[
    'tree -o x',
    'go env -w A=b',
    'go test -exec x',
    'make deploy',
    'make -f x test',
    'npm test --script-shell=x',
    'unknown --help',
    './a.sh',
  ],
  ...[
    'tools/ls',
    '/tmp/ls',
    'source a',
    '. a',
    'alias ls=rm',
    'trap "rm a" EXIT',
    'kill 1',
    'systemctl restart x',
    'journalctl --vacuum-time=1d',
  ],
  ...[
    'baton approve P-1',
    'baton exec --approval P-1 -- ls',
    'python a.py',
    'python -c "x"',
    'node a.js',
    'node -e x',
    'perl -e x',
    'psql -c x',
  ],
  ...['('.repeat(100), `${'env '.repeat(200)}ls`, `${'bash -c '.repeat(20)}ls`],
])('%s changes state, or nobody knows', (line) => {
  expect(tier(line)).toBe('T3');
});

test.each([
  ['rm -rf /', 'root'],
  ['rm -r ~', 'root'],
  ['sudo rm -rf --no-preserve-root /', 'root'],
  ['bash -c "rm -rf /usr"', 'root'],
  ['mkfs.ext4 /dev/sda', 'disk'],
  ['dd if=x of=/dev/sda', 'disk'],
  ['cat x > /dev/nvme0n1', 'disk'],
  [':(){ :|:& };:', 'multiplies'],
  ['shutdown now', 'stops'],
  ['chmod -R 777 /', 'rights'],
  ['baton approve P-1', 'person'],
  ['baton -C x approve P-1', 'person'],
  ['baton registry release x', 'person'],
  ['terraform destroy -auto-approve', 'configuration'],
])('%s can never be approved: %s', (line, why) => {
  const policy = { ...DEFAULT_POLICY, blocked: ['terraform destroy'] };
  expect(classify(line, policy, ground).blocked).toContain(why);
});

test.each([
  'rm -rf build',
  'git push --force',
  'terraform apply',
  'rm -rf ./usr',
  'baton status',
  'terraform plan -destroy',
])('%s can be approved', (line) => {
  expect(classify(line, { ...DEFAULT_POLICY, blocked: ['terraform destroy'] }, ground).blocked).toBe(null);
});

test('people give tiers, and theirs count before ours', () => {
  const policy = {
    ...DEFAULT_POLICY,
    tiers: { 'make deploy': 'T1', ls: 'T3', './x.sh check': 'T0' },
    writes: 'T3',
  } as const;
  const rows = [
    'make deploy',
    'make deploy prod',
    'make other',
    'ls',
    './x.sh check',
    './x.sh',
    'echo a > b',
    'bash -c "make deploy"',
  ];
  expect(rows.map((line) => classify(line, policy, ground).tier)).toEqual([
    'T1',
    'T1',
    'T3',
    'T3',
    'T0',
    'T3',
    'T3',
    'T1',
  ]);
});

test('where it is not known where a command runs, a write changes state', () => {
  expect(classify('echo a > b', DEFAULT_POLICY, null).tier).toBe('T3');
  expect(classify('ls', DEFAULT_POLICY, null).tier).toBe('T0');
});

test('words are judged as a line of them is', () => {
  expect(classifyArgv(['echo', '> a; rm b'], DEFAULT_POLICY, ground).tier).toBe('T0');
  expect(classifyArgv(['bash', '-c', 'rm b'], DEFAULT_POLICY, ground).tier).toBe('T3');
});

const PIECES = [
  'ls',
  'rm a',
  'git push',
  '$(',
  ')',
  '`',
  '"',
  "'",
  ';',
  '|',
  '&&',
  '>',
  'a',
  '<<E',
  '\n',
  '{',
  '}',
  'sudo',
  'env',
  'bash -c',
  '\\',
  '$X',
  'xargs',
  'for',
  'do',
];

test('whatever the line, it has a tier; and more of it is never less risky', () => {
  const line = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }).map((pieces) => pieces.join(' ')),
  );
  fc.assert(
    fc.property(line, (text) => {
      const found = classify(text, DEFAULT_POLICY, ground);
      expect(TIERS).toContain(found.tier);
      expect(found.because).not.toBe('');
      expect(tier(`rm a; ${text}`)).toBe('T3');
    }),
    { numRuns: RUNS },
  );
});
