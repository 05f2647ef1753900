/** The entry of `npx isolayer <command>`. */
import { openKeyboard } from './command.ts';
import { runCommand } from './run.ts';

process.exitCode = await runCommand(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  say: console.log,
  complain: console.error,
  now: () => new Date(),
  keyboard: openKeyboard(process.stdin, process.stderr),
  request: fetch,
});
