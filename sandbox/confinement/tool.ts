import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Where the system's own tools lie; the environment's PATH has no say in how a process is confined. */
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin'];

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
