import type { Attack } from './attack.ts';
import { CAPABILITY_ATTACKS } from './capabilities.ts';
import { CRYPTOGRAPHY_ATTACKS } from './cryptography.ts';
import { ERROR_ATTACKS } from './errors.ts';
import { ESCAPE_ATTACKS } from './escape.ts';
import { LEFTOVER_ATTACKS } from './leftovers.ts';
import { LOG_ATTACKS } from './logs.ts';
import { MEMORY_ATTACKS } from './memory.ts';
import { PROCESSOR_ATTACKS } from './processor.ts';
import { RESULT_ATTACKS } from './results.ts';
import { UNINTERRUPTIBLE_ATTACKS } from './uninterruptible.ts';

/** Every hostile program; names are unique. */
export const ATTACKS: readonly Attack[] = [
  ...PROCESSOR_ATTACKS,
  ...UNINTERRUPTIBLE_ATTACKS,
  ...MEMORY_ATTACKS,
  ...RESULT_ATTACKS,
  ...LOG_ATTACKS,
  ...ERROR_ATTACKS,
  ...CAPABILITY_ATTACKS,
  ...LEFTOVER_ATTACKS,
  ...ESCAPE_ATTACKS,
  ...CRYPTOGRAPHY_ATTACKS,
];
