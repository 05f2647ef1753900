import { join } from 'node:path';
import { deadCodeStep } from './dead-code-step.ts';
import { formatStep } from './format-step.ts';
import { houseStep } from './house-step.ts';
import { importsStep } from './imports-step.ts';
import { lintStep } from './lint-step.ts';
import { runSteps } from './run-steps.ts';
import { typesStep } from './types-step.ts';

const steps = [
  formatStep,
  lintStep,
  typesStep({
    path: '.',
    folders: ['src', 'sandbox', 'examples/demo', 'test'],
    without: ['sandbox/guest'],
  }),
  typesStep({ path: 'console', folders: ['console'], finds: ['src/client/client.ts'] }),
  typesStep({ path: 'sandbox/guest', folders: ['sandbox/guest'] }),
  // Without our own module the compiler would quietly take the public package of that name.
  typesStep({ path: 'examples', folders: ['plugins'], finds: ['sandbox/guest/modules/relayer-sdk.ts'] }),
  importsStep,
  deadCodeStep,
  houseStep,
];

const allPassed = await runSteps(steps, join(import.meta.dirname, '..', '..'), (text) => console.log(text));
process.exitCode = allPassed ? 0 : 1;
