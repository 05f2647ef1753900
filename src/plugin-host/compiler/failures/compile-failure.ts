import { posix } from 'node:path';
import { ended, type HostFailure } from '../../outcome.ts';
import type { BuildProblems } from '../bundler/worker-messages.ts';

/** The answer to a call of a plugin whose build ended with errors: file, line, column and text of each error. */
export function compileFailure(pluginId: string, { problems, total }: BuildProblems): HostFailure {
  const [first] = problems;
  const { file, line, column } = first?.place ?? { file: undefined, line: null, column: null };
  return {
    ...ended('COMPILE_ERROR', `Compilation failed: ${problemLines({ problems, total })}`),
    details: { pluginId, file: file === undefined ? null : shown(file), line, column },
  };
}

/** The problems as text, one in a line. */
export function problemLines({ problems, total }: BuildProblems): string {
  const lines = problems.map(({ place, text }) =>
    place === null ? text : `${shown(place.file)}:${place.line}:${place.column}: ${text}`,
  );
  if (total > problems.length) lines.push(`and ${total - problems.length} more`);
  return lines.join('\n');
}

/** A file's path as messages show it. For a package beside the plugins folder, the path to that folder is left out. */
function shown(file: string): string {
  return posix.join('plugins', file);
}
