/** A package, its imports in a plugin, and a use of it: the body of an async function whose result is compared. */
export interface PackageCase {
  name: string;
  imports: string;
  body: string;
}
