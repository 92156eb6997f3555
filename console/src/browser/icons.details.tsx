// The icons of the details of a file, which come with them.
import { Drawing } from './icons.tsx';

const paths = {
  copy: 'M9 9h10v11H9zM5 15V4h10v2',
  link: 'M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 6 6l1-1',
} as const;

export const DetailsIcon = ({ name }: { readonly name: keyof typeof paths }) => (
  <Drawing name={name} path={paths[name]} />
);
