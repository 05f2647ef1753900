import { posix } from 'node:path';
import { ended, type HostFailure } from '../../outcome.ts';
import type { BuildProblems } from '../bundler/worker-messages.ts';

/** A build that ended with errors as the answer to a call: file, line, column and text of each. */
export function compileFailure(pluginId: string, { problems, total }: BuildProblems): HostFailure {
  const [first] = problems;
  const { file, line, column } = first?.place ?? { file: undefined, line: null, column: null };
  return {
    ...ended('COMPILE_ERROR', `Compilation failed: ${problemLines({ problems, total })}`),
    details: { pluginId, file: file === undefined ? null : shown(file), line, column },
  };
}

/** The problems as people read them, one in a line. */
export function problemLines({ problems, total }: BuildProblems): string {
  const lines = problems.map(({ place, text }) =>
    place === null ? text : `${shown(place.file)}:${place.line}:${place.column}: ${text}`,
  );
  if (total > problems.length) lines.push(`and ${total - problems.length} more`);
  return lines.join('\n');
}

/** A file as people know it: of a package beside the plugins folder, without the way to there. */
function shown(file: string): string {
  return posix.join('plugins', file);
}
