import { houseRules } from '../architecture/house.ts';
import { listFiles, readFiles, sourceFolders } from './project-files.ts';
import type { Step } from './step.ts';

const ALSO_READ = ['package.json', 'package-lock.json', 'test/counterparts/package.json'];

/** The rules of the house over the repository as it is. */
export const houseStep: Step = {
  name: 'architecture',
  async run(root) {
    const texts = listFiles(root, [...sourceFolders, 'config', 'docs', '.ci'], '**/*.{ts,js,mjs,json,md}');
    const ours = listFiles(root, ['.'], '*.{md,json,mjs,ts}');
    const files = readFiles(root, [...new Set([...texts, ...ours, ...ALSO_READ])]);
    const failures = Object.entries(houseRules).flatMap(([name, rule]) =>
      rule(files).map((offence) => `${name}: ${offence}`),
    );
    if (files.length <= ALSO_READ.length) failures.push('There is no file to look at.');
    return { looked: `${files.length} files, ${Object.keys(houseRules).length} rules`, failures };
  },
};
