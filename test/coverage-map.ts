/** Names the source that a unit test mirrors, so that code which is only passed by on the way never counts as tested. */
export default function coveredBy(testFile: string): string[] | null {
  const mirrored = /(?:^|[\\/])test[\\/]unit[\\/](.+)\.test\.ts$/.exec(testFile)?.[1];
  return mirrored === undefined ? null : [`${mirrored}.ts`];
}
