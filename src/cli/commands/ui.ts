// `baton ui`: opens the page of the workspace. A server that runs already is used; else this process serves until Ctrl-C.
import { type Call, EXIT_CODE, flag, note, outJson, text } from '../command.ts';
import { portIn, untilSignal } from '../listen.ts';
import { type OpenPage, openInBrowser, withPage } from '../open-page.ts';
import { withWorkspace } from '../open-workspace.ts';

export function run(call: Call): Promise<number> {
  const given = text(call.values, 'port');
  const where = given === undefined ? {} : { port: portIn('port', given) };
  return withWorkspace(call, (workspace) =>
    withPage(call, workspace, where, async (page) => {
      tellPage(call, page);
      if (call.json) outJson({ url: page.url, page: page.link });
      if (page.isOurs) await untilSignal();
      return EXIT_CODE.ok;
    }),
  );
}

/** Opens the page, and says where it is: the person may sit at another machine. */
export function tellPage(call: Call, page: OpenPage): void {
  const isOpened = !flag(call.values, 'no-open') && !call.json && openInBrowser(page, call.env);
  note(`${isOpened ? 'Opened' : 'Open'} ${page.link}`);
  if (page.isOurs) note('This process serves the page until Ctrl-C.');
}
