// `baton serve`: the server of the workspace, until a signal ends it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { whyNotPerson } from '../../access/actor.ts';
import { actorHere } from '../../access/actor-here.ts';
import { onlyPeopleMay, refusalToAgent } from '../../access/people-only.ts';
import { refusalOfStart } from '../../access/server-callers.ts';
import { shownToken } from '../../access/shown-token.ts';
import { noteRefusal, RefusalCount } from '../../app/note-refusal.ts';
import type { Workspace } from '../../app/workspace.ts';
import { type Call, EXIT, flag, note, outJson, Refused, text, UsageError } from '../command.ts';
import { listen, portIn, type Server, untilSignal, version } from '../listen.ts';
import { withWorkspace } from '../open-workspace.ts';
import { contextFor } from '../tool-context.ts';

export function run(call: Call): Promise<number> {
  const where = whereOf(call);
  return withWorkspace(call, (workspace) =>
    serving(call, workspace, where, async ({ url, token, isNewToken }) => {
      note(`Baton serves ${workspace.dir} at ${url}`);
      // The token is told once and written nowhere.
      if (isNewToken) note(`Page: ${url}/#token=${token}`);
      if (call.json) outJson({ url, ...(isNewToken ? { token } : {}) });
      await untilSignal();
      return EXIT.ok;
    }),
  );
}

type Where = Parameters<typeof listen>[3];

/** Runs the server for as long as `work` takes. */
export async function serving<T>(
  call: Call,
  workspace: Workspace,
  where: Where,
  work: (server: Server) => Promise<T>,
): Promise<T> {
  const refusals = new RefusalCount((verdict, turned) => noteRefusal(workspace, verdict, turned, note));
  const shown = shownToken();
  const here = actorHere(workspace, { isServer: true, shown });
  const why = whyNotPerson(here, call.command.name, null, workspace.program);
  const may = onlyPeopleMay(call.command.name) ?? '';
  // The server's own token acts as an administrator.
  const refusal =
    why === null ? refusalOfStart(call.env, shown, here, 'govern') : refusalToAgent(may, { operation: 'serve' }, why);
  if (refusal) {
    await noteRefusal(workspace, refusal, { who: here.name }, note);
    throw new Refused(refusal);
  }
  const { serverFor } = await import('../../mcp/server.ts');
  const server = await listen(call, workspace, { here, refusals }, where, (caller) =>
    serverFor(contextFor(workspace, { here, refusals }, caller), version()),
  );
  try {
    return await work(server);
  } finally {
    await server.close();
    await refusals.close(Date.now());
  }
}

/** Beyond this machine, what is sent must be readable for nobody else: by TLS here, or by a proxy that does it. */
function whereOf(call: Call): Where {
  const { values } = call;
  const port = portIn('port', text(values, 'port') ?? '0');
  const [host, cert, key, publicUrl] = ['host', 'tls-cert', 'tls-key', 'public-url'].map((name) => text(values, name));
  const isBehindProxy = flag(values, 'behind-proxy');
  if ((cert === undefined) !== (key === undefined)) throw new UsageError('--tls-cert and --tls-key go together');
  if (publicUrl !== undefined && !/^https:\/\/[^/?#\s]+\/?$/.test(publicUrl))
    throw new UsageError(`--public-url must be an address such as https://baton.example.org, not ${publicUrl}`);
  const isBeyond = host !== undefined && !['127.0.0.1', 'localhost'].includes(host);
  if (isBeyond && cert === undefined && !isBehindProxy)
    throw new UsageError(`--host ${host} is beyond this machine: give --tls-cert and --tls-key, or --behind-proxy`);
  if ((isBeyond || isBehindProxy) && publicUrl === undefined)
    throw new UsageError('give --public-url: the address by which the server is called; any other name is refused');
  return {
    port,
    ...(isBeyond ? { host } : {}),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert: fileOf(call, cert), key: fileOf(call, key) } }),
    ...(publicUrl === undefined ? {} : { publicUrl: publicUrl.replace(/\/$/, '') }),
    ...(isBehindProxy ? { isBehindProxy } : {}),
  };
}

function fileOf({ cwd }: Call, name: string): string {
  try {
    return readFileSync(resolve(cwd, name), 'utf8');
  } catch (error) {
    throw new UsageError(`${name} cannot be read (${(error as Error).message})`);
  }
}
