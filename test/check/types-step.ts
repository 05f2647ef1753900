import { relative } from 'node:path';
import { runTool } from './command.ts';
import { listFiles } from './project-files.ts';
import { judgeReading, type Step } from './step.ts';

/** Beside the tools: the native compiler, which takes a tenth of the time. `typescript` is there for its API. */
const COMPILER = '../typescript-native/bin/tsc';

/** What belongs to one of the three compiler projects. */
interface Project {
  readonly path: string;
  readonly folders: readonly string[];
  /** Folders inside those that another project checks. */
  readonly without?: readonly string[];
  /** Files from elsewhere that the project must have found under their names; otherwise something else was checked. */
  readonly finds?: readonly string[];
}

/** The compiler over one project. */
export function typesStep({ path, folders, without = [], finds = [] }: Project): Step {
  return {
    name: `tsc -p ${path}`,
    async run(root) {
      const { exitCode, stdout, stderr } = await runTool(root, COMPILER, [
        '-p',
        path,
        '--listFiles',
        '--pretty',
        'false',
      ]);
      const lines = stdout.split('\n');
      const isListed = (line: string) => /^(\/|[A-Za-z]:[\\/]).*\.(ts|mts|cts|json)$/.test(line);
      const read = lines.filter(isListed).map((line) => relative(root, line).replaceAll('\\', '/'));
      const expected = listFiles(root, folders).filter(
        (file) => !without.some((folder) => file.startsWith(`${folder}/`)),
      );
      const { looked, failures } = judgeReading(
        'The compiler',
        read,
        expected.length === 0 ? [] : [...expected, ...finds],
      );
      const offences = exitCode === 0 ? [] : [`${lines.filter((line) => !isListed(line)).join('\n')}${stderr}`];
      return { looked, failures: [...offences, ...failures] };
    },
  };
}
