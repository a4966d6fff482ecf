// The table of commands that do not change state, or change only what is local. Add new rows here; the test measures the table on
// test/corpus/command-risk.json. A command without a row is T3, so a missing row costs only a question.
import type { Tier } from '../kernel/approval/request.ts';

/** The tier of commands that begin with these words. `words` must match every later word, and `option` exactly one. */
type TableRow = readonly [tier: Tier, commands: string, words?: RegExp, option?: RegExp];

const not = (...parts: readonly string[]) => new RegExp(`^(?!(?:${parts.join('|')}))`);
const only = (...parts: readonly string[]) => new RegExp(`^(?:${parts.join('|')})$`);
/** Git accepts the beginning of a long option. */
const begun = (names: string) =>
  names
    .split(' ')
    .map(
      (name) =>
        `--${[...name].reduceRight((rest, letter, at) => (at === 0 ? letter + rest : `(?:${letter}${rest})?`), '')}(?:=|$)`,
    );

/** Options of git that name a program, a file to write or another repository. */
const GIT = [
  '-[a-zA-Z]*O',
  ...begun(
    'output ext-diff textconv exec upload-pack open-files-in-pager receive-pack config-env worktree git-dir work-tree exec-path template separate-git-dir force delete mirror filters update-head-ok refmap server-option edit-description set-upstream-to unset-upstream',
  ),
];
const LISTS =
  '-l|--list|-a|--all|-r|--remotes|-v|-vv|--verbose|--show-current|--sort=.*|--format=.*|--color=.*|--column|-n\\d*|-i';
const TARGETS =
  'test|check|lint|build|compile|verify|-[skqBo]|-j\\d*|--silent|--quiet|--offline|--no-daemon|--info|--stacktrace|--continue|--parallel';
const KUBERNETES = '--helm|--enable|--load|--kubeconfig|--server|-s$|--as|--token|--exec|--cache-dir|--profile|--log-';
const HELM =
  '--post-renderer|--kubeconfig|--kube-(?:api|as|ca|in|tls|token)|--output-dir|--registry-config|--repository-';
const NPM =
  '--(?:script-shell|node-options|prefix=\\/|globalconfig|userconfig|cache|logs-dir|git$|git=|browser|viewer|editor|shell)';
/** Options that may cancel `--dry-run`, or that only look like it. */
const UNDRY = '--no-|(?:false|0|none|no)$|--$|--d(?!ry-run(?:=client|=server)?$|ryrun$)';
const DRY = /^--dry-?run$/;
const DRY_KUBERNETES = /^--dry-run=(?:client|server)$/;

/**
 * `*` is one word that names no act, or the rest of a word. `?` is one word, also in quotes. `a|b` is either. `@name` is a
 * pattern below. `$` is the end. If several rows match, the longest counts.
 */
const TABLE: readonly TableRow[] = [
  [
    'T0',
    'ls, cat, head, tail, wc, grep, egrep, fgrep, zgrep, stat, du, df, pwd, echo, true, false, :, which, whereis, type, basename, dirname, realpath, readlink, printenv, id, whoami, groups, uname, ps, pgrep, uptime, free, netstat, cmp, comm, cut, tr, paste, column, nl, od, hexdump, strings, md5sum, sha1sum, sha256sum, sha512sum, shasum, cksum, b2sum, seq, expr, tac, rev, fold, fmt, join, cd, pushd, popd, dirs, for, done, fi, do, then, else, }, sleep, nproc, tty, getent, locale, cal, zcat, bzcat, xzcat, look, factor, numfmt, exit, return, break, continue, command, printf *',
  ],
  [
    'T0',
    'tee, touch, mkdir, cp, mv',
    not('-(?![abcfinprRuvm]{1,8}$|-(?:append|parents|verbose|recursive|force|no-clobber|update)?$)'),
  ],
  [
    'T0',
    '[ @is ? ] $, [ ! @is ? ] $, [[ @is ? ]] $, [[ ! @is ? ]] $, test @is ? $, [ ? =|==|!= ? ] $, [[ ? =|==|!= ? ]] $, test ? =|!= ? $',
  ],
  ['T0', 'set -e|-u|-x|-eu|-ex|-eux $, set -o|-euo|-euxo pipefail $'],
  ['T0', 'export', only('[A-Za-z_]\\w*=[^]*')],
  ['T0', 'env', not('-[a-zA-Z]*S', '--s')],
  ['T0', 'rg', not('--pre', '--hostname-bin', '--search-zip', '-[a-zA-Z]*z')],
  ['T0', 'ag', not('--pager')],
  ['T0', 'tree', not('-[a-zA-Z]*[oR]', '--output')],
  ['T0', 'file', not('-[a-zA-Z]*C', '--comp')],
  ['T0', 'find', not('-(?:delete|fprint|fls|ok|execdir|files0-from)')],
  ['T0', 'date', only('\\+[^]*', '-u', '--utc', '-I\\w*', '-R')],
  ['T0', 'date -d|-r|--date', not('-[a-zA-Z]*s', '--s')],
  ['T0', 'sort', not('-[a-zA-Z]*[oT]', '--o', '--comp', '--temp', '--files0')],
  ['T0', 'uniq', only('-[cdiu]+')],
  ['T0', 'uniq ? $, uniq -c ? $, xxd $, xxd ? $, tsort $, tsort ? $, hostname $, hostname -f|-I $'],
  ['T0', 'sed @sed, sed -n|-E|-r|-nE|-nr|-s @sed', not('-')],
  ['T0', 'awk|gawk|mawk @awk, awk|gawk|mawk -F* @awk', not('-')],
  ['T0', 'jq', not('--rawfile$', '--from-file$')],
  ['T0', 'yq', not('-[a-zA-Z]*[is]', '--in', '--split', '--security', '[^]*\\bsystem\\b')],
  ['T0', 'diff', not('--out', '--to-file=-')],
  ['T0', 'wait', not('-[a-zA-Z]*p')],
  ['T0', 'lsof', not('-[a-zA-Z]*D')],
  ['T0', 'ss', not('-[a-zA-Z]*[KD]', '--kill', '--diag')],
  ['T0', 'man', not('-[a-zA-Z]*[PHC]', '--pager', '--html', '--config')],
  ['T0', 'tar tf|tzf|tvf|tzvf|-tf|-tzf|-tvf|-tzvf, unzip -l', not('-', '[^]*:')],
  ['T0', 'curl -I|-sI|-sSI|-IL|-sIL', only('-[sSL]+', 'https?://[^]*')],
  ['T0', 'journalctl', not('--(?:vacuum|rotate|flush|sync|setup|update|relinquish|smart)')],
  ['T0', 'systemctl status|list-units|is-active|is-enabled|show|cat', not('-[a-zA-Z]*[HM]', '--host', '--machine')],
  [
    'T0',
    'git status|diff|log|show|blame|rev-parse|ls-files|ls-tree|cat-file|describe|shortlog|grep|for-each-ref|merge-base|name-rev|rev-list|count-objects|version|diff-tree|diff-index|diff-files|check-ignore|check-attr|cherry|var|show-ref|range-diff|verify-commit, git stash list|show, git config --get|--list|-l|get, git config * $, git worktree list, git submodule status, git remote $, git remote -v $, git reflog $, git reflog show, git symbolic-ref HEAD $, git bisect log, git --version $',
    not(...GIT),
  ],
  // A word with `::` names a program that makes the connection.
  ['T0', 'git ls-remote, git remote show|get-url', not('[^]*::', ...GIT)],
  ['T0', 'git branch, git tag', only(LISTS)],
  ['T0', 'git branch|tag --list|-l|--merged|--no-merged|--contains|--no-contains|--points-at', only(LISTS, '[^-].*')],
  [
    'T0',
    'kubectl get|describe|logs|top|explain|api-resources|api-versions|version|events, kubectl cluster-info $, kubectl config view|get-contexts|current-context, kubectl auth can-i, kubectl rollout status|history',
    not(KUBERNETES),
  ],
  ['T0', 'helm list|ls|status|get|history|show|search|version|env', not(HELM)],
  [
    'T0',
    'terraform|tofu show|output|version|graph, terraform|tofu state list|show, terraform providers $, terraform workspace list|show',
    not('-chdir', '-backend'),
  ],
  ['T0', 'terragrunt output', not('--(?:terragrunt-)?(?:tf-?path|source|working-dir)')],
  ['T0', 'pulumi version, pulumi stack ls|output, flux get, gsutil ls|du|stat'],
  [
    'T0',
    'aws * describe-*|list-*, aws iam|ssm|ec2|lambda|cloudformation|cloudwatch get-*, aws s3api get-bucket-*, aws s3 ls, aws sts get-caller-identity, aws --version $, aws configure list',
    not('--endpoint-url', '--ca-bundle', '--no-verify'),
  ],
  [
    'T0',
    'gcloud * list|describe, gcloud * * list|describe, gcloud * * * list|describe, gcloud config get-value, gcloud info|version',
    not('--flags-file', '--impersonate'),
  ],
  ['T0', 'az * list|show, az * * list|show, az version'],
  [
    'T0',
    'docker ps|images|logs|inspect|version|info|stats|top|port|history|diff, docker image|container|volume|network ls, docker network|volume inspect, docker compose ps|logs|ls',
    not('-H', '--host'),
  ],
  ['T0', 'argocd app list|get', not('--(?:hard-)?refresh', '--(?:config|server|auth-token|core)')],
  ['T0', 'npm ls|list|view|outdated|root|prefix, npm --version|-v $, pnpm list|why, yarn list|why', not(NPM)],
  ['T0', 'pip|pip3 list|show, pip freeze, pip --version $', not('--(?:log(?:=|$|-)|py|ca|cert|client|src)')],
  ['T0', 'go list|version|env|doc', not('--?(?:w|u|o|exec|toolexec|overlay|modfile|C|compiler)(?:=|$)')],
  ['T0', 'cargo|rustc|node|python|python3|ruby --version $, node -v $, python -V $, java -version $'],
  [
    'T0',
    'gh pr view|list|status|diff|checks, gh issue view|list|status, gh run list|view, gh repo view, gh auth status, gh release list|view, gh --version $',
    not('--web', '--hostname'),
  ],
  [
    'T0',
    'baton status|casts|show|watch|log|why|explain|diff|trace|reject|doctor|verify, baton approvals $, baton approvals --json $, baton task list, baton lock list|check, baton agents $, baton --help|--version $, baton audit verify',
  ],
  ['T1', 'baton check|validate|gate|heartbeat|worklog|bundle, baton task claim|next|finish, baton handoff verify'],
  ['T1', 'git add|commit|mv|merge-tree, git stash $, git stash push, git notes show', not(...GIT)],
  [
    'T1',
    'git fetch',
    only('-[qvtp]', '--quiet', '--verbose', '--all', '--tags', '--prune', '--no-tags', '--depth=\\d+', '\\w[\\w./-]*'),
  ],
  ['T1', 'git switch -c, git checkout -b', only('\\w[\\w./-]*')],
  ['T1', 'git restore --staged|-S', only('-q', '--quiet', '--', '[^-][^]*')],
  ['T1', 'git init', only('-q', '--quiet', '--initial-branch=[\\w./-]+')],
  [
    'T1',
    'npm test|t|audit, npm run test|test:unit|test:coverage|coverage|lint|check|typecheck|build|format, npm pack --dry-run, pnpm|yarn test|lint, pnpm run test|lint, bun test',
    not(NPM),
  ],
  [
    'T1',
    'npx|bunx tsc, tsc, npx jest, jest, mocha, stylelint, markdownlint, ruff, black, isort, pyright, flake8, bandit, rustfmt, gofmt, rspec, bundle exec rspec, rubocop, mix test, swift test|build, shellcheck, shfmt, hadolint, yamllint, jsonlint, actionlint, kubeval, kubeconform, opa test|check, trivy config, ansible-lint, ansible-playbook --syntax-check, tox $, nox $, biome check|lint|format|ci, npx biome check|lint|format|ci, golangci-lint run|fmt, python|python3 -m unittest|py_compile|compileall, python3 -m json.tool $, python3 -m json.tool * $',
  ],
  ['T1', 'vitest, npx vitest, npx playwright test', not('--(?:api|ui)')],
  [
    'T1',
    'eslint, npx eslint',
    not('-o', '--output-file', '--resolve-plugins', '--rulesdir', '-c', '--config', '--plugin'),
  ],
  ['T1', 'prettier, npx prettier', not('--plugin', '--config')],
  ['T1', 'pytest, python|python3 -m pytest', not('-[pco]', '--basetemp', '--rootdir', '--pdb', '--override')],
  ['T1', 'mypy', not('--(?:python-e|install-t|non-i)')],
  ['T1', 'pylint', not('--init-hook')],
  ['T1', 'checkov', not('--(?:external|download|repo-id|bc-api)')],
  ['T1', 'conftest test|verify', not('-u', '--update')],
  ['T1', 'tflint', not('--(?:init|config|chdir)')],
  [
    'T1',
    'cargo check|test|build|clippy|fmt|doc|bench|tree|metadata',
    not('--config', '--manifest-path', '--target-dir'),
  ],
  [
    'T1',
    'go vet|test|build|fmt',
    not('--?(?:w|u|o|exec|toolexec|vettool|overlay|modfile|C|compiler|gccgoflags|pkgdir)(?:=|$)', '[^]*-extld'),
  ],
  ['T1', 'make test|check|lint|build, mvn test|verify|compile, gradle|./gradlew test|check|build', only(TARGETS)],
  [
    'T1',
    'cmake --build',
    only('-t|--target|-j\\d*|--parallel|\\d+|all|test|check|lint', '(?:\\./)?(?:b|build|out)(?:/[\\w.-]+)?'),
  ],
  ['T1', 'ctest', not('-[SDTM]', '--script', '--dashboard', '--test-(?:action|model|command)', '--build-')],
  ['T1', 'dotnet test|build', not('(?:--?|/)(?:[tTrRpP]|target|restore|property):(?!Configuration=\\w+$)')],
  ['T1', 'deno test|lint|check', not('[^]*://', '(?:npm|jsr|data|blob):')],
  [
    'T1',
    'node --test, node --check',
    not('-r', '-[ep]$', '--(?:require|import|loader|experimental|eval|print|env-file|build)'),
  ],
  ['T1', 'bash|sh|zsh|dash -n', not('-', '\\+')],
  ['T1', 'nginx -t', not('-')],
  ['T1', 'terraform|tofu validate|fmt', not('-chdir', '-backend')],
  ['T1', 'terragrunt validate|hclfmt', not('--(?:terragrunt-)?(?:tf-?path|source|working-dir)')],
  ['T1', 'helm lint', not(HELM)],
  ['T1', 'docker compose config', not('-H', '--host')],
  ['T2', 'terraform|tofu plan', not('-chdir', '-backend')],
  ['T2', 'terragrunt plan, terragrunt run-all plan', not('--(?:terragrunt-)?(?:tf-?path|source|working-dir)')],
  [
    'T2',
    'pulumi preview, sam validate, serverless print, argocd app diff, flux diff, ansible-playbook --check, baton cast|gc --dry-run',
  ],
  ['T2', 'kubectl diff', not(KUBERNETES)],
  ['T2', 'helm template|diff', not(HELM)],
  ['T2', 'kustomize build', not('-o', '--output', '--enable', '--helm', '--load', '-e$')],
  ['T2', 'cdk diff|synth', not('-a', '--app', '--build', '--plugin', '-p$')],
  ['T2', 'git merge --no-commit --no-ff', not(...GIT)],
  ['T2', 'git push|clean|rm|prune', not(UNDRY, ...GIT), DRY],
  [
    'T2',
    'kubectl apply|create|delete|patch|replace|scale|label|annotate|set|expose|run',
    not(UNDRY, KUBERNETES),
    DRY_KUBERNETES,
  ],
  ['T2', 'helm install|upgrade|uninstall|rollback', not(UNDRY, HELM), /^--dry-run(?:=client|=server)?$/],
  ['T2', 'aws s3 cp|mv|rm|sync, aws ec2', not(UNDRY, '--endpoint-url', '--ca-bundle', '--no-verify'), DRY],
  [
    'T2',
    'npm publish|pack, pnpm publish, cargo publish',
    not(UNDRY, NPM, '--config', '--manifest-path', '--target-dir'),
    DRY,
  ],
  ['T2', 'apt-get, apt', not(UNDRY, '-o', '--option', '-c', '--config'), /^--(?:dry-run|simulate)$/],
  ['T2', 'ansible-playbook', not('--no-|--c(?!heck$)'), /^--check$/],
  ['T3', 'aws medialive describe-input-device-thumbnail, aws ec2 get-password-data, npm audit fix'],
];

/** Patterns with a name in a row. */
export const NAMED: Readonly<Record<string, RegExp>> = {
  '@is': /^-[efdsrwxnzhL]$/,
  // Only printing and plain replacement. Other sed commands can write files or run programs.
  '@sed':
    /^(?:[0-9$]{1,9}(?:,[0-9$]{1,9})?[pdq]|\/[^/\\\n;{}]{0,200}\/(?:,\/[^/\\\n;{}]{0,200}\/)?[pd]|s([/|#,])[^\\\n;{}/|#,]{0,200}\1[^\\\n;{}/|#,]{0,200}\1[gIip0-9]{0,4})$/,
  // A pattern alone only prints lines.
  '@awk': /^(?!-|.*(?:system|getline|ENVIRON|close|fflush))(?:[^|>@\n]{1,500}|[^|@{}"\n]{1,200})$/,
};
/** Words that name an act. `*` does not match them. */
export const ACTS =
  /^(?:delete|create|edit|update|remove|add|set|unset|start|stop|reset|restart|deploy|import|export|ssh|scp|apply|move|restore|enable|disable|patch|replace|resize|rollback|submit|run|call|execute|invoke|publish|promote|failover|purge|destroy|cancel|attach|detach|upload|download|copy|rotate|revoke|grant|bind|unbind|clone|connect|rm|cp|mv|rsync|sync|insert|write|put|send|sign|suspend|resume|upgrade|drain|abandon|recreate|simulate|undelete|migrate|switch|switchover|approve|reject|login|logout|activate|init|install|uninstall|lock|unlock|mount|terminate|reboot|swap|tag|untag|link|unlink|register|unregister|deregister|deallocate|redeploy|generalize|capture|build|get-credentials|reserve|release|expand|wait|tail|tunnel|proxy)(?:-.*)?$/;

/** Options before the words of a command: those that take a value, and those that do not. */
export const BEFORE: Readonly<Record<string, readonly [values: string, alone: string]>> = {
  git: ['-C', '--no-pager -P --no-optional-locks --literal-pathspecs'],
  kubectl: ['-n --namespace --context --cluster', ''],
  helm: ['-n --namespace --kube-context', ''],
  aws: ['--profile --region --output', '--no-cli-pager'],
  gcloud: ['--project --format', '--quiet -q'],
  docker: ['--context', ''],
  npm: ['--prefix -w --workspace', '--silent -s'],
  pnpm: ['-C --filter', '--silent -r'],
  cargo: ['', '--locked --offline --quiet -q'],
  go: ['-C', ''],
  make: ['-C', '-s -k -j -j1 -j2 -j4 -j8 -j16 --silent'],
  gh: ['-R --repo', ''],
  baton: ['-C --directory', '--json'],
  systemctl: ['', '--no-pager --user'],
};

/** Variables that change only output or small details, and that are special in no shell. */
export const HARMLESS_VARIABLE =
  /^(?!(?:path|cdpath|fpath|mailpath|manpath|fignore|prompt|psvar|watch|argv|histchars|status|pipestatus|options|commands|functions|aliases|galiases|saliases|parameters|modules|dirstack|nameddirs|userdirs)$)(?:LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|CI|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES|DEBUG|VERBOSE|NODE_ENV|RUST_BACKTRACE|RUST_LOG|CARGO_TERM_COLOR|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|AWS_PROFILE|AWS_REGION|AWS_DEFAULT_REGION|[A-Z][0-9]?|[a-z][a-z0-9]*)$/;

export type RiskRow = {
  readonly tier: Tier;
  readonly parts: readonly string[];
  readonly words?: RegExp;
  readonly option?: RegExp;
};
/** Rows by their program. */
export type RiskRows = ReadonlyMap<string, readonly RiskRow[]>;

export const ROWS = riskRows(TABLE);

/** What the policy's digest covers besides the configuration. */
export const RISK_TABLE = [TABLE, NAMED, BEFORE, ACTS, HARMLESS_VARIABLE];

export function riskRows(table: readonly TableRow[]): RiskRows {
  const rows = table.flatMap(([tier, commands, words, option]) =>
    commands.split(',').flatMap((command) => {
      const [programs = '', ...parts] = command.trim().split(/\s+/);
      return programs
        .split('|')
        .map((program) => [program, { tier, parts, ...(words && { words }), ...(option && { option }) }] as const);
    }),
  );
  return new Map(
    Object.entries(Object.groupBy(rows, ([program]) => program)).map(([program, all = []]) => [
      program,
      all.map(([, row]) => row),
    ]),
  );
}
