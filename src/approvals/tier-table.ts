// The tiers of commands, by the words they begin with. A star stands for one word, or for the rest of one; a dollar sign
// for the end of the command. The longest row that fits counts. Whatever is not here counts as changing state.
import type { Tier } from '../kernel/approval/request.ts';

const rows = (tier: Tier, commands: string): readonly (readonly [string, Tier])[] =>
  commands
    .split('\n')
    .flatMap((line) => line.split(','))
    .map((words) => words.trim())
    .filter((words) => words !== '')
    .map((words) => [words, tier] as const);

/** Keywords of the shell and what only moves within it, too: what they begin is looked at by itself. */
const READ_ONLY = `
  ls, cat, head, tail, wc, grep, egrep, fgrep, zgrep, rg, ag, tree, stat, file, du, df, pwd, echo, printf, true, false
  test, [, [[, :, which, whereis, type, basename, dirname, realpath, readlink, date, printenv, id, whoami, groups, uname
  hostname, ps, pgrep, uptime, free, lsof, netstat, ss, cmp, diff, comm, cut, tr, uniq, sort, paste, column, nl, od, xxd
  hexdump, strings, md5sum, sha1sum, sha256sum, sha512sum, shasum, cksum, b2sum, jq, yq, seq, expr, tac, rev, fold, fmt, join
  cd, pushd, popd, dirs, wait, for, done, fi, do, then, else, }, man, sed, awk, gawk, mawk, find, sleep, nproc, tty
  getent, locale, cal, zcat, bzcat, xzcat, look, tsort, factor, numfmt, exit, return, break, continue, env, command, export
  git status, git log, git diff, git show, git blame, git rev-parse, git ls-files, git ls-tree, git ls-remote, git cat-file
  git describe, git shortlog, git grep, git for-each-ref, git merge-base, git name-rev, git rev-list, git count-objects
  git version, git --version $, git diff-tree, git diff-index, git diff-files, git check-ignore, git check-attr, git cherry
  git remote $, git remote -v $, git remote show, git remote get-url, git branch, git tag, git stash list, git stash show
  git config --get, git config --list, git config -l, git worktree list, git submodule status, git reflog $, git reflog show
  git config * $, git config get, set -e $, set -u $, set -x $, set -eu $, set -ex $, set -o pipefail $, set -euo pipefail $
  set -eux $, set -euxo pipefail $, tar tf, tar tzf, tar tvf, tar tzvf, tar -tf, tar -tzf, tar -tvf, tar -tzvf, unzip -l
  curl -I, curl -sI, curl -sSI, curl -IL, curl -sIL
  git var, git show-ref, git symbolic-ref HEAD $, git range-diff, git verify-commit, git bisect log
  kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl explain, kubectl api-resources, kubectl api-versions
  kubectl version, kubectl cluster-info $, kubectl config view, kubectl config get-contexts, kubectl config current-context
  kubectl auth can-i, kubectl rollout status, kubectl rollout history, kubectl events
  helm list, helm ls, helm status, helm get, helm history, helm show, helm search, helm version, helm env
  terraform show, terraform output, terraform state list, terraform state show, terraform providers $, terraform version
  terraform graph, terraform workspace list, terraform workspace show, terragrunt output, tofu show, tofu output
  tofu state list, tofu state show, tofu version, pulumi stack ls, pulumi stack output, pulumi version
  aws * describe-*, aws * list-*, aws * get-*, aws s3 ls, aws sts get-caller-identity, aws --version $, aws configure list
  gcloud * list, gcloud * * list, gcloud * * * list, gcloud * describe, gcloud * * describe, gcloud * * * describe
  gcloud config get-value, gcloud info, gcloud version, gsutil ls, gsutil du, gsutil stat, az * list, az * show, az * * list
  az * * show, az version, docker ps, docker images, docker logs, docker inspect, docker version, docker info, docker stats
  docker top, docker port, docker history, docker diff, docker image ls, docker container ls, docker volume ls
  docker network ls, docker network inspect, docker volume inspect, docker compose ps, docker compose logs, docker compose ls
  flux get, argocd app list, argocd app get, systemctl status, systemctl list-units, systemctl is-active
  systemctl is-enabled, systemctl show, systemctl cat, journalctl, npm ls, npm list, npm view, npm outdated, npm root
  npm prefix, npm --version $, npm -v $, pnpm list, pnpm why, yarn list, yarn why, pip list, pip show, pip freeze, pip --version $
  pip3 list, pip3 show, cargo --version $, rustc --version $, go list, go version, go env, go doc
  node --version $, node -v $, python --version $, python3 --version $, python -V $, java -version $, ruby --version $
  gh pr view, gh pr list, gh pr status, gh pr diff, gh pr checks, gh issue view, gh issue list, gh issue status, gh run list
  gh run view, gh repo view, gh auth status, gh release list, gh release view, gh --version $
  baton status, baton casts, baton show, baton watch, baton log, baton why, baton approvals $, baton approvals --json $
  baton explain, baton diff, baton trace, baton task list, baton lock list, baton lock check, baton reject, baton doctor
  baton agents $, baton --help $, baton --version $, baton audit verify, baton verify
`;

const LOCAL = `
  npm test, npm t, npm run test, npm run test:unit, npm run coverage, npm run test:coverage, node --test, python3 -m json.tool $
  python3 -m json.tool * $, npm run lint, npm run check, npm run typecheck, npm run build, npm run format, npm audit $
  npm audit --json $, pnpm test, pnpm lint, pnpm run test, pnpm run lint, yarn test, yarn lint, bun test, npx tsc, npx vitest
  npx jest, npx eslint, npx prettier, npx playwright test, tsc, vitest, jest, mocha, eslint, prettier
  stylelint, markdownlint, pytest, python -m pytest, python3 -m pytest, python -m unittest, python3 -m unittest
  python -m py_compile, python3 -m py_compile, python -m compileall, tox $, nox $, ruff, black, isort, mypy, pyright, flake8
  pylint, bandit, cargo check, cargo test, cargo build, cargo clippy, cargo fmt, cargo doc, cargo bench, rustfmt
  go vet, go test, go build, go fmt, gofmt, golangci-lint run, golangci-lint fmt, make test, make check, make lint, make build, ctest, cmake --build
  mvn test, mvn verify, mvn compile, gradle test, gradle check, gradle build, ./gradlew test, ./gradlew check, dotnet test
  dotnet build, bundle exec rspec, rspec, rubocop, mix test, swift test, swift build, deno test, deno lint, deno check
  shellcheck, shfmt, hadolint, yamllint, jsonlint, tflint, actionlint, terraform validate, terraform fmt, tofu validate
  tofu fmt, terragrunt validate, terragrunt hclfmt, helm lint, kubeval, kubeconform, conftest test, conftest verify, opa test, opa check, checkov
  trivy config, docker compose config, ansible-lint, ansible-playbook --syntax-check, node --check, bash -n, nginx -t
  git fetch, git add, git commit, git stash push, git stash $, git mv, git switch -c, git checkout -b, git init
  biome check, biome lint, biome format, biome ci, npx biome check, npx biome lint, npx biome format, npx biome ci
  cargo tree, cargo metadata, git restore --staged, git merge-tree, git notes show, npm pack --dry-run, baton check, baton validate, baton gate
  baton heartbeat, baton worklog, baton task claim, baton task next, baton task finish, baton bundle, baton handoff verify
`;

const SIMULATED = `
  terraform plan, tofu plan, terragrunt plan, terragrunt run-all plan, pulumi preview, kubectl diff, helm template, helm diff
  kustomize build, cdk diff, cdk synth, sam validate, serverless print, argocd app diff, flux diff
  ansible-playbook --check, git merge --no-commit --no-ff, baton cast --dry-run, baton gc --dry-run
`;

/** What a row with a star would otherwise take for harmless. */
const CHANGING = `
  aws s3api get-object, aws * get-object, aws * get-object-torrent, aws glacier get-job-output, aws * get-login*
  aws sts get-session-token, aws sts get-federation-token, aws sts get-service-bearer-token, aws sso get-role-credentials
  aws * get-authorization-token, aws cognito-identity get-*, aws redshift get-cluster-credentials*
  aws redshift-serverless get-credentials, aws medialive describe-input-device-thumbnail, npm audit fix
`;

const TABLE: readonly (readonly [string, Tier])[] = [
  ...rows('T0', READ_ONLY),
  ...rows('T1', LOCAL),
  ...rows('T2', SIMULATED),
  ...rows('T3', CHANGING),
];

/** The words behind the program, and the tier of what begins with them. */
export type Row = { readonly words: readonly string[]; readonly tier: Tier };
/** Rows by the program they begin with. */
export type Rows = ReadonlyMap<string, readonly Row[]>;

export function rowsOf(table: readonly (readonly [string, Tier])[]): Rows {
  const found = new Map<string, Row[]>();
  for (const [command, tier] of table) {
    const [program = '', ...words] = command.trim().split(/\s+/);
    const known = found.get(program);
    if (known) known.push({ words, tier });
    else found.set(program, [{ words, tier }]);
  }
  return found;
}

export const ROWS: Rows = rowsOf(TABLE);

/**
 * Options that may stand before the words of a command without changing what it is: those that take the next word as their
 * value, and those that stand alone. An option that is not here hides what comes after it.
 */
export const GLOBALS: Readonly<
  Record<string, { readonly values: readonly string[]; readonly alone: readonly string[] }>
> = {
  git: { values: ['-C'], alone: ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs'] },
  kubectl: { values: ['-n', '--namespace', '--context', '--cluster'], alone: [] },
  helm: { values: ['-n', '--namespace', '--kube-context'], alone: [] },
  terraform: { values: [], alone: [] },
  aws: { values: ['--profile', '--region', '--output'], alone: ['--no-cli-pager'] },
  gcloud: { values: ['--project', '--format'], alone: ['--quiet', '-q'] },
  docker: { values: ['--context'], alone: [] },
  npm: { values: ['--prefix', '-w', '--workspace'], alone: ['--silent', '-s'] },
  pnpm: { values: ['-C', '--filter'], alone: ['--silent', '-r'] },
  cargo: { values: [], alone: ['--locked', '--offline', '--quiet', '-q'] },
  go: { values: ['-C'], alone: [] },
  make: { values: ['-C'], alone: ['-s', '-k', '-j', '-j1', '-j2', '-j4', '-j8', '-j16', '--silent'] },
  gh: { values: ['-R', '--repo'], alone: [] },
  baton: { values: ['-C', '--directory'], alone: ['--json'] },
  systemctl: { values: [], alone: ['--no-pager', '--user'] },
};

const DRY = ['--dry-run'];
const DRY_KUBERNETES = ['--dry-run=client', '--dry-run=server'];

const SIMULATED_WITH: readonly (readonly [string, readonly string[]])[] = [
  ...['apply', 'create', 'delete', 'patch', 'replace', 'scale', 'label', 'annotate', 'set', 'expose', 'run'].map(
    (verb) => [`kubectl ${verb}`, DRY_KUBERNETES] as const,
  ),
  ...['install', 'upgrade', 'uninstall', 'rollback'].map(
    (verb) => [`helm ${verb}`, ['--dry-run', ...DRY_KUBERNETES]] as const,
  ),
  ...['push', 'clean', 'rm', 'prune'].map((verb) => [`git ${verb}`, DRY] as const),
  ...['cp', 'mv', 'rm', 'sync'].map((verb) => [`aws s3 ${verb}`, ['--dryrun']] as const),
  ['aws ec2', DRY],
  ['npm publish', DRY],
  ['npm pack', DRY],
  ['pnpm publish', DRY],
  ['cargo publish', DRY],
  ['ansible-playbook', ['--check']],
  ['apt-get', ['--dry-run', '--simulate']],
  ['apt', ['--dry-run', '--simulate']],
];

/** Options with which a command only says what it would do, by its program and the words behind it. */
export const SIMULATES = new Map(
  Object.entries(Object.groupBy(SIMULATED_WITH, ([command]) => command.split(' ')[0] ?? '')).map(
    ([program, rows = []]) => [
      program,
      rows.map(([command, options]) => ({ words: command.split(' ').slice(1), options })),
    ],
  ),
);
