import { join } from 'node:path';
import { runTool } from './command.ts';
import { listFiles, sourceFolders } from './project-files.ts';
import { judgeReading, type Step, type StepResult } from './step.ts';

const CONFIG = join(import.meta.dirname, '..', '..', '.dependency-cruiser.mjs');

/** The part of dependency-cruiser's report that counts. */
export interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
      readonly cycle?: readonly { readonly name: string }[];
    }[];
  };
}

/** dependency-cruiser: the arrows between the folders. */
export const importsStep: Step = {
  name: 'dependency-cruiser',
  async run(root) {
    return judgeCruise(await cruise(root), listFiles(root, sourceFolders));
  },
};

/**
 * What a report is worth. dependency-cruiser is known to read nothing and call it a success when it does not understand
 * the compiler, so the modules it read are compared with the files that there are.
 */
export function judgeCruise({ modules, summary }: Cruise, files: readonly string[]): StepResult {
  const read = modules.map(({ source }) => source);
  const { looked, failures } = judgeReading('dependency-cruiser', read, files);
  const offences = summary.violations.map(
    ({ rule, from, to, cycle }) => `${rule.name}: ${from} → ${cycle?.map(({ name }) => name).join(' → ') ?? to}`,
  );
  return { looked, failures: [...offences, ...failures] };
}

async function cruise(root: string): Promise<Cruise> {
  const places = sourceFolders.flatMap((folder) => {
    const files = listFiles(root, [folder]);
    // Of these, not all are ours.
    if (folder === 'plugins') return files;
    return files.length > 0 ? [folder] : [];
  });
  const args = ['--config', CONFIG, '--output-type', 'json', ...places];
  const { stdout, stderr } = await runTool(root, 'depcruise', args);
  if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser gave no report: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Cruise;
}
