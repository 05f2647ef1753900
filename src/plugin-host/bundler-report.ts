import { z } from 'zod';
import {
  BUNDLE_BYTES,
  BUNDLER_PROTOCOL,
  FILES_AT_ONCE,
  MAP_BYTES,
  MOST_PROBLEMS,
  PATH_CHARS,
  PROBLEM_CHARS,
} from './bundler-limits.ts';

const build = z.int().min(0);
const count = z.int().min(0);
const path = z.string().max(PATH_CHARS);

const problem = z.strictObject({
  text: z.string().max(PROBLEM_CHARS),
  /** Lines and columns count from 1. */
  place: z.strictObject({ file: path, line: count, column: count }).nullable(),
});

/** What the bundler's process says. What it reads is hostile, so what it says is bounded in every direction. */
export const bundlerReportSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ready'), version: z.literal(BUNDLER_PROTOCOL) }),
  // Ahead of the build's end: it may not come to one, and then it is to be known what it was made of.
  z.strictObject({
    kind: z.literal('read'),
    build,
    files: z.array(z.tuple([path, z.string().max(200)])).max(FILES_AT_ONCE),
  }),
  // The code and the map follow as bytes; a map that is too large is null.
  z.strictObject({
    kind: z.literal('built'),
    build,
    code: count.max(BUNDLE_BYTES),
    map: count.max(MAP_BYTES).nullable(),
  }),
  z.strictObject({ kind: z.literal('oversized'), build, bytes: count }),
  z.strictObject({ kind: z.literal('failed'), build, problems: z.array(problem).max(MOST_PROBLEMS), total: count }),
]);

/** A message of the bundler's process. */
export type BundlerReport = z.infer<typeof bundlerReportSchema>;

/** What is wrong with a file of a build. */
export type BuildProblem = z.infer<typeof problem>;

/** The first problems of a build, and how many there are in all. */
export interface BuildProblems {
  problems: BuildProblem[];
  total: number;
}
