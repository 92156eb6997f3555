// JSX without an import of React in each file.
export default { esbuild: { jsx: 'automatic' } };
