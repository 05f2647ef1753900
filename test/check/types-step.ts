import { relative } from 'node:path';
import { runTool } from './command.ts';
import { listFiles } from './project-files.ts';
import type { Step } from './step.ts';

/** The compiler over one of the three projects; it must have read every file that belongs to the project. */
export function typesStep(project: string, folders: readonly string[], without: readonly string[] = []): Step {
  return {
    name: `tsc -p ${project}`,
    async run(root) {
      const { exitCode, stdout, stderr } = await runTool(root, 'tsc', [
        '-p',
        project,
        '--listFiles',
        '--pretty',
        'false',
      ]);
      const lines = stdout.split('\n');
      const isListed = (line: string) => /^(\/|[A-Za-z]:[\\/]).*\.(ts|mts|cts|json)$/.test(line);
      const read = new Set(lines.filter(isListed).map((line) => relative(root, line).replaceAll('\\', '/')));
      const expected = listFiles(root, folders).filter((path) => !without.some((prefix) => path.startsWith(prefix)));
      const unread = expected.filter((path) => !read.has(path));

      const failures: string[] = [];
      if (exitCode !== 0) failures.push(`${lines.filter((line) => !isListed(line)).join('\n')}${stderr}`);
      if (expected.length === 0) failures.push(`There is no file in ${folders.join(', ')}.`);
      if (unread.length > 0) failures.push(`The compiler never read:\n${unread.join('\n')}`);
      return { looked: `${expected.length - unread.length} files`, failures };
    },
  };
}
