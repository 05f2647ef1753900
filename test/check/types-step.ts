import { relative } from 'node:path';
import { runTool } from './command.ts';
import { listFiles } from './project-files.ts';
import { judgeReading, type Step } from './step.ts';

/** The compiler over one of the three projects. */
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
      const read = lines.filter(isListed).map((line) => relative(root, line).replaceAll('\\', '/'));
      const expected = listFiles(root, folders).filter((path) => !without.some((prefix) => path.startsWith(prefix)));
      const { looked, failures } = judgeReading('The compiler', read, expected);
      const offences = exitCode === 0 ? [] : [`${lines.filter((line) => !isListed(line)).join('\n')}${stderr}`];
      return { looked, failures: [...offences, ...failures] };
    },
  };
}
