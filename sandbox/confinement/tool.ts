import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Folders of the system's own tools. PATH is ignored: the environment must not decide how a process is confined. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];
const HELP_MS = 2000;

/** The path of a tool of the system; undefined where it is not installed. */
export function toolPath(tool: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => join(folder, tool)).find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Whether this version of a tool lists an option. */
export function knowsOption(file: string, option: string): boolean {
  return spawnSync(file, ['--help'], { encoding: 'utf8', env: {}, timeout: HELP_MS }).stdout.includes(option);
}
